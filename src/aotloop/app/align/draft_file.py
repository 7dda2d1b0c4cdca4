"""A draft as a file (objective.yaml): the keys of a state file's objective, and besides them atoms, or_groups and
decompositions. It is read as carefully as a state file. Unknown keys are refused, because nothing would keep them.
"""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from aotloop.app.align.draft import OF_GRAPH, Draft, DraftAtom, DraftGroup, DraftObjective
from aotloop.core.model import Decomposition
from aotloop.errors import StateFileInvalid
from aotloop.exit_codes import NOT_READY
from aotloop.statefile.yaml import careful_reader, emitter, nodes

LARGEST = 4_000_000
"""Bytes."""

MOST_SHOWN = 5

_HEADING = """\
# What is to be agreed on. Save and close the file to go on with it.
# Checks: command, not_command, file, not_file, assertion (value: a sentence), quality (criteria, pass_threshold).
# `group:` instead of `check:` holds items that must all pass, `any_of:` items of which one must.
# Atoms: description, and if you like id, depends_on, or_group (alternatives share one), run (a command does it), check,
# covers (names of items of the base case that it makes true: they are its check).
"""


class _Nested(msgspec.Struct, frozen=True, kw_only=True):
    """As in a state file: the objective below a key of its own."""

    objective: DraftObjective
    atoms: tuple[DraftAtom, ...] = ()
    or_groups: dict[str, DraftGroup] = {}
    decompositions: tuple[Decomposition, ...] = ()


def read_draft(data: bytes, name: str) -> Draft:
    """Raises StateFileInvalid with every finding, each at its line; YAML or JSON."""
    if len(data) > LARGEST:
        raise _invalid(f"{name}: it is longer than {LARGEST} bytes")
    try:
        node = nodes.compose(data.removeprefix(b"\xef\xbb\xbf"), 1)
    except StateFileInvalid as error:
        raise _invalid(f"{name}: {error.message}", error.findings) from None
    if node is None:
        raise _invalid(f"{name}: the YAML is empty")
    reader = careful_reader.Reader()
    try:
        value: Any = reader.read(node, _Nested if _has_key(node, "objective") else Draft)
    except RecursionError:
        raise _invalid(f"{name}: an alias in the YAML contains itself") from None
    if reader.findings:
        shown = [str(finding).replace(", kept as it is", "") for finding in reader.findings[:MOST_SHOWN]]
        more = len(reader.findings) - len(shown)
        raise _invalid(f"{name}: {'; '.join(shown)}{f'; and {more} more' if more else ''}", reader.findings)
    if isinstance(value, _Nested):
        words = {key: getattr(value.objective, key) for key in DraftObjective.__struct_fields__}
        return Draft(**words, **{key: getattr(value, key) for key in OF_GRAPH})
    draft: Draft = value
    return draft


def write_draft(draft: Draft) -> str:
    """For an editor: with every required key, also those that are still empty."""
    entries = emitter.to_data(draft)
    words: dict[str, Any] = {name: entries.pop(name, "") for name in Draft.__struct_fields__[:4]}
    base_case = entries.pop("base_case", {"checklist": []})
    data = {**words, "base_case": base_case, **entries}
    return _HEADING + "".join(_piece(key, value) for key, value in data.items())


def _piece(key: str, value: Any) -> str:
    text = emitter.pair(key, value, 0)
    return f"\n{text}" if key in ("base_case", *OF_GRAPH) else text


def _has_key(node: yaml.Node, key: str) -> bool:
    return isinstance(node, yaml.MappingNode) and any(str(name.value) == key for name, _ in nodes.pairs(node))


def _invalid(message: str, findings: Any = ()) -> StateFileInvalid:
    return StateFileInvalid(message, findings, exit_code=NOT_READY)
