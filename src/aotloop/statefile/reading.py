"""Bytes → loop. The fast reader is asked first; what it does not vouch for, the careful one decides."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from aotloop.core.findings import Finding
from aotloop.core.limits import SECONDS_PER
from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.statefile import fast, frontmatter

T = TypeVar("T")

EXPECTED_SECTIONS = ("bindings", "trail", "corrections")
"""Part of every file; read as empty where they are missing."""


class Examination(msgspec.Struct, frozen=True):
    """Everything that can be said about a file: the loop, if there is one, and all findings with their places."""

    loop: Loop | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == "warning")


def decode(data: bytes) -> Loop:
    """The loop in a state file; raises StateFileInvalid with every finding if there is none."""
    return decode_parts(frontmatter.split(data))


def decode_parts(parts: frontmatter.Parts) -> Loop:
    loop = fast.read(parts.yaml, Loop)
    if loop is None or _has_doubtful_duration(loop):
        loop, findings = _read_carefully(parts.yaml, Loop, parts.first_line)
        if loop is None:
            raise invalid([finding for finding in findings if finding.level == "error"])
    _refuse_ambiguous_ids(loop)
    return loop


def read_value(yaml: bytes, wanted: type[T]) -> T | None:
    """A piece of YAML as a value of some type; None if it is not one."""
    value = fast.read(yaml, wanted)
    if value is not None:
        return value
    try:
        return _read_carefully(yaml, wanted, 1)[0]
    except StateFileInvalid:
        return None


def plain_data(yaml: bytes) -> Any:
    """All that stands in some YAML, known to us or not, as plain data; None if it cannot be read."""
    from aotloop.statefile import careful, nodes  # noqa: PLC0415 - PyYAML is loaded only when it is needed

    try:
        node = nodes.compose(yaml, 1)
    except StateFileInvalid:
        return None
    return careful.plain(node) if node is not None else None


def examine(data: bytes) -> Examination:
    """Reads carefully even what could be read fast: for people who want to know, not for a loop in a hurry."""
    from aotloop.core.invariants import findings_of  # noqa: PLC0415
    from aotloop.statefile import nodes  # noqa: PLC0415

    try:
        parts = frontmatter.split(data)
        loop, findings = _read_carefully(parts.yaml, Loop, parts.first_line)
    except StateFileInvalid as error:
        return Examination(None, tuple(one for one in error.findings if isinstance(one, Finding)))
    if loop is not None:
        root = nodes.compose(parts.yaml, parts.first_line)
        for finding in findings_of(loop):
            mark = node.start_mark if (node := nodes.locate(root, finding.path)) is not None else None
            findings.append(
                finding
                if mark is None
                else msgspec.structs.replace(finding, line=mark.line + parts.first_line, column=mark.column + 1)
            )
    return Examination(loop, tuple(sorted(findings, key=lambda one: (one.level, one.line or 0, one.column or 0))))


def invalid(errors: Sequence[Finding]) -> StateFileInvalid:
    shown = [str(finding) for finding in errors[:5]]
    if len(errors) > len(shown):
        shown.append(f"… and {len(errors) - len(shown)} more")
    return StateFileInvalid("; ".join(shown), errors, hint="`aot validate` lists everything, with lines.")


def _read_carefully(yaml: bytes, wanted: type[T], first_line: int) -> tuple[T | None, list[Finding]]:
    from aotloop.statefile import careful, nodes  # noqa: PLC0415

    node = nodes.compose(yaml, first_line)
    if node is None:
        finding = Finding("error", (), "there is nothing between the two lines `---`", line=first_line, column=1)
        return None, [finding]
    reader = careful.Reader(first_line, most_nodes=10_000 + 4 * len(yaml))
    try:
        value = reader.read(node, wanted)
    except RecursionError:
        finding = Finding("error", (), "an alias in the YAML contains itself", line=first_line, column=1)
        return None, [finding]
    if wanted is Loop:
        reader.note_missing(node, EXPECTED_SECTIONS)
    is_valid = value is not careful.INVALID and all(finding.level != "error" for finding in reader.findings)
    return (value if is_valid else None), reader.findings


def _has_doubtful_duration(loop: Loop) -> bool:
    """A length of time may be text or a number; which of them 010, 1_000 or 1e3 is, the fast reader does not know."""
    lengths = [atom.timeout for atom in loop.atoms if atom.timeout is not None]
    return any(
        isinstance(length, float) or (isinstance(length, str) and not length.strip().endswith(tuple(SECONDS_PER)))
        for length in (*lengths, loop.objective.constraints.max_runtime)
    )


def _refuse_ambiguous_ids(loop: Loop) -> None:
    """Every change names an atom by its id, so nothing may be done to a file in which an id names two."""
    if len(set(map(attrgetter("id"), loop.atoms))) < len(loop.atoms):
        from aotloop.core.invariants import findings_of  # noqa: PLC0415

        raise invalid([one for one in findings_of(loop) if one.level == "error"])
