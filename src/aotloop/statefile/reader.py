"""The reader: bytes → loop. The fast reader is tried first; if it is not certain, the careful reader decides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from aotloop.core.findings import Finding
from aotloop.core.limits import SECONDS_PER
from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.statefile.yaml import fast_reader

T = TypeVar("T")

EXPECTED_SECTIONS = ("bindings", "trail", "corrections")
"""Sections of every file. A missing section is read as empty."""


class Examination(msgspec.Struct, frozen=True):
    """Everything known about a file: the loop, if there is one, and all findings with their places."""

    loop: Loop | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.level == "warning")


def decode(data: bytes) -> Loop:
    """The loop in a state file. Raises StateFileInvalid with every finding if there is none."""
    return decode_parts(split(data))


def decode_parts(parts: Parts) -> Loop:
    loop = fast_reader.read(parts.yaml, Loop)
    if loop is None or _has_doubtful_duration(loop):
        loop, findings = _read_carefully(parts.yaml, Loop, parts.first_line)
        if loop is None:
            raise invalid([finding for finding in findings if finding.level == "error"])
    _refuse_ambiguous_ids(loop)
    return loop


def read_value(yaml: bytes, wanted: type[T]) -> T | None:
    """A piece of YAML as a value of the given type; None if it does not fit."""
    value = fast_reader.read(yaml, wanted)
    if value is not None:
        return value
    try:
        return _read_carefully(yaml, wanted, 1)[0]
    except StateFileInvalid:
        return None


def plain_data(yaml: bytes) -> Any:
    """Everything in some YAML as plain data, including unknown keys; None if it cannot be read."""
    from aotloop.statefile.yaml import careful_reader, nodes  # noqa: PLC0415 - PyYAML is loaded only when it is needed

    try:
        node = nodes.compose(yaml, 1)
    except StateFileInvalid:
        return None
    return careful_reader.plain(node) if node is not None else None


def examine(data: bytes) -> Examination:
    """Always reads with the careful reader, which gives places for findings but is slow."""
    from aotloop.core.invariants import findings_of  # noqa: PLC0415
    from aotloop.statefile.yaml import nodes  # noqa: PLC0415

    try:
        parts = split(data)
        loop, findings = _read_carefully(parts.yaml, Loop, parts.first_line)
    except StateFileInvalid as error:
        return Examination(None, tuple(finding for finding in error.findings if isinstance(finding, Finding)))
    if loop is not None and (about := findings_of(loop)):
        with fast_reader.suspended():
            root = nodes.compose(parts.yaml, parts.first_line)
        for finding in about:
            mark = node.start_mark if (node := nodes.locate(root, finding.path)) is not None else None
            findings.append(
                finding
                if mark is None
                else msgspec.structs.replace(finding, line=mark.line + parts.first_line, column=mark.column + 1)
            )
    return Examination(
        loop, tuple(sorted(findings, key=lambda finding: (finding.level, finding.line or 0, finding.column or 0)))
    )


def invalid(errors: Sequence[Finding]) -> StateFileInvalid:
    shown = [str(finding) for finding in errors[:5]]
    if len(errors) > len(shown):
        shown.append(f"… and {len(errors) - len(shown)} more")
    return StateFileInvalid("; ".join(shown), errors, hint="`aot validate` lists everything, with lines.")


def _read_carefully(yaml: bytes, wanted: type[T], first_line: int) -> tuple[T | None, list[Finding]]:
    from aotloop.statefile.yaml import nodes  # noqa: PLC0415

    with fast_reader.suspended():
        return _read_nodes(nodes.compose(yaml, first_line), wanted, first_line, 10_000 + 4 * len(yaml))


def _read_nodes(node: Any, wanted: type[T], first_line: int, most_nodes: int) -> tuple[T | None, list[Finding]]:
    from aotloop.statefile.yaml import careful_reader  # noqa: PLC0415

    if node is None:
        finding = Finding("error", (), "there is nothing between the two lines `---`", line=first_line, column=1)
        return None, [finding]
    reader = careful_reader.Reader(first_line, most_nodes=most_nodes)
    try:
        value = reader.read(node, wanted)
    except RecursionError:
        finding = Finding("error", (), "an alias in the YAML contains itself", line=first_line, column=1)
        return None, [finding]
    if wanted is Loop:
        reader.note_missing(node, EXPECTED_SECTIONS)
    is_valid = value is not careful_reader.INVALID and all(finding.level != "error" for finding in reader.findings)
    return (value if is_valid else None), reader.findings


def _has_doubtful_duration(loop: Loop) -> bool:
    """A duration may be text or a number. The fast reader does not know which of them 010, 1_000 or 1e3 is."""
    lengths = [atom.timeout for atom in loop.atoms if atom.timeout is not None]
    return any(
        isinstance(length, float) or (isinstance(length, str) and not length.strip().endswith(tuple(SECONDS_PER)))
        for length in (*lengths, loop.objective.constraints.max_runtime)
    )


def _refuse_ambiguous_ids(loop: Loop) -> None:
    """Every change names an atom by its id, so a file with a duplicate id cannot be changed."""
    if len(set(map(attrgetter("id"), loop.atoms))) < len(loop.atoms):
        from aotloop.core.invariants import findings_of  # noqa: PLC0415

        raise invalid([finding for finding in findings_of(loop) if finding.level == "error"])


_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*\r?\n)*---[ \t]*\r?\n")
_CLOSING = re.compile(rb"---[ \t]*\r?(?:\n|\Z)")


class Parts(msgspec.Struct, frozen=True):
    """The three parts of the file; joined, they are the file byte for byte."""

    head: bytes
    yaml: bytes
    tail: bytes

    @property
    def first_line(self) -> int:
        """The number of the first YAML line in the file, counted from 1."""
        return self.head.count(b"\n") + 1


def split(data: bytes) -> Parts:
    opening = _OPENING.match(data)
    if opening is None:
        raise _unframed("the file does not begin with a line `---`", line=1)
    start = opening.end()
    end = start
    while _CLOSING.match(data, end) is None:
        end = data.find(b"\n---", end) + 1  # far faster than a pattern that examines every line
        if end == 0:
            raise _unframed("the YAML is not closed by a line `---`", line=data.count(b"\n") + 1)
    return Parts(head=data[:start], yaml=data[start:end], tail=data[end:])


def _unframed(message: str, line: int) -> StateFileInvalid:
    finding = Finding("error", (), message, line=line, column=1)
    return StateFileInvalid(
        str(finding),
        [finding],
        hint="A state file is YAML between two lines `---`, then the original request.",
    )
