"""Conversion between plain data and a phase loop. Fields are typed, old versions migrated, unknown keys kept."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.core.findings import Finding, Path, error
from aotloop.core.phases.invariants import findings_of
from aotloop.core.phases.model import OURS, PHASES, VERSION, PhaseLoop
from aotloop.core.phases.transitions import with_error
from aotloop.errors import StateFileInvalid
from aotloop.statefile.phases import strict_json

HINT = "Nothing was changed. Correct the file by hand, or move it away and begin again."

_PART = re.compile(r"\.(\w+)|\[(\d+)\]")


def decode(data: bytes) -> PhaseLoop:
    """The loop in a file. Raises StateFileInvalid with the mistakes and their places if there is none."""
    try:
        return _decode(data)
    except StateFileInvalid as error_:
        raise StateFileInvalid(error_.message, error_.findings, hint=HINT) from None


def _decode(data: bytes) -> PhaseLoop:
    plain = strict_json.parse(data)
    if not isinstance(plain, dict):
        raise _invalid([error((), "expected an object with the keys of a phase loop")], data)
    version = plain.get("version", VERSION)
    if type(version) is not int or not 1 <= version <= VERSION:
        raise _invalid([error(("version",), f"expected 1 or {VERSION}, found {str(version)[:40]}")], data)
    try:
        loop = msgspec.convert(plain, PhaseLoop)
    except msgspec.ValidationError as refused:
        raise _invalid(_mistakes(data) or [_as_finding(refused)], data) from None
    loop = migrated(loop)
    if wrong := list(findings_of(loop)):
        raise _invalid(wrong, data)
    return loop


def encode(loop: PhaseLoop, like: bytes = b"") -> bytes:
    """The file for this loop. `like` is the file it was read from; its keys and their order are kept."""
    before = strict_json.parse(like) if like else {}
    return strict_json.render(_overlaid(loop, before), like)


# --- writing -----------------------------------------------------------------------------------------------------


def _overlaid(value: Any, before: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _overlaid_struct(value, before if isinstance(before, dict) else {})
    if isinstance(value, tuple):
        return _overlaid_list(value, before if isinstance(before, list) else [])
    return before if _is_same(value, before) else value


def _overlaid_struct(value: msgspec.Struct, before: dict[str, Any]) -> dict[str, Any]:
    result = dict(before)
    ours = OURS.get(type(value), ())
    for field in msgspec.structs.fields(value):
        inner = getattr(value, field.name)
        if field.name in ours and inner == field.default:
            result.pop(field.name, None)
        else:
            result[field.name] = _overlaid(inner, before.get(field.name))
    return result


def _overlaid_list(values: tuple[Any, ...], before: list[Any]) -> list[Any]:
    """An entry that still exists keeps its unknown keys, even if it has moved."""
    left = list(before)
    result = []
    for value in values:
        place = next((number for number, old in enumerate(left) if _reads_as(old, value)), None)
        result.append(_overlaid(value, left.pop(place) if place is not None else None))
    return result


def _reads_as(old: Any, value: Any) -> bool:
    try:
        return bool(msgspec.convert(old, type(value)) == value)
    except msgspec.ValidationError:
        return False


def _is_same(value: Any, before: Any) -> bool:
    """20 and 20.0 are the same number; true and 1 are not the same."""
    return bool(value == before) and isinstance(value, bool) == isinstance(before, bool)


# --- mistakes ----------------------------------------------------------------------------------------------------


def _mistakes(data: bytes) -> list[Finding]:
    """All mistakes with their lines. JSON is YAML, so the careful reader finds them, but it may be more lenient."""
    from aotloop.statefile.yaml import careful_reader, nodes  # noqa: PLC0415 - PyYAML is loaded only for a mistake

    try:
        root = nodes.compose(data, 1)
    except StateFileInvalid:
        return []
    reader = careful_reader.Reader(most_nodes=10_000 + 4 * len(data))
    if root is not None:
        reader.read(root, PhaseLoop)
    return [finding for finding in reader.findings if finding.level == "error"]


def _as_finding(refused: msgspec.ValidationError) -> Finding:
    what, _, where = str(refused).partition(" - at `$")
    path: Path = tuple(int(number) if number else key for key, number in _PART.findall(where))
    return error(path, what[:1].lower() + what[1:])


def _invalid(errors: list[Finding], data: bytes) -> StateFileInvalid:
    placed = [finding if finding.line is not None else _placed(finding, data) for finding in errors]
    shown = [str(finding) for finding in placed[:5]]
    if len(placed) > len(shown):
        shown.append(f"… and {len(placed) - len(shown)} more")
    return StateFileInvalid("; ".join(shown), placed)


def _placed(finding: Finding, data: bytes) -> Finding:
    from aotloop.statefile.yaml import nodes  # noqa: PLC0415

    try:
        node = nodes.locate(nodes.compose(data, 1), finding.path)
    except StateFileInvalid:
        return finding
    if node is None:
        return finding
    return msgspec.structs.replace(finding, line=node.start_mark.line + 1, column=node.start_mark.column + 1)


BEFORE_THE_TESTS = PHASES[: PHASES.index("spec_test")]


def migrated(loop: PhaseLoop) -> PhaseLoop:
    """No clock is read: notes from here have the time of the last update."""
    is_older = loop.version < VERSION
    loop = replace(loop, version=VERSION)
    if "ship" in loop.phases_completed and loop.status == "running":
        return replace(loop, status="completed")  # the old state file was left behind; the loop does not begin again
    if is_older and loop.phase not in BEFORE_THE_TESTS:
        note = f"migrated from version 1 in {loop.phase}: the acceptance tests come first"
        loop = with_error(loop, note, loop.last_updated)
        return replace(
            loop,
            phase="spec_test",
            phase_iteration=0,
            fix_review_cycles=0,
            phase_started_at=None,
            phases_completed=tuple(phase for phase in loop.phases_completed if phase in BEFORE_THE_TESTS),
            receipts=tuple(receipt for receipt in loop.receipts if receipt.phase in BEFORE_THE_TESTS),
        )
    return loop
