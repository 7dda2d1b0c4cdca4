"""Agreed objectives: a copy of each objective, so that an unnoticed change of the state file is detected.

A process that can write the state file could also write a digest into it. So the copy is in a place that agents do not
use.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from difflib import unified_diff

import msgspec

from aotloop.core.limits import limits_of
from aotloop.core.model import Objective
from aotloop.errors import Unavailable
from aotloop.trust.folder import record_of, written_path
from aotloop.trust.sealed_records import is_forged, keep_sealed, sealed_content


class _Agreement(msgspec.Struct, frozen=True, kw_only=True):
    state_file: str
    objective: Objective


def agree(state_file: str, objective: Objective) -> None:
    agreement = _Agreement(state_file=written_path(state_file), objective=objective)
    keep_sealed(record_of("objectives", state_file), msgspec.json.encode(agreement), "what was agreed on")


def forget(state_file: str) -> None:
    with suppress(OSError, Unavailable):
        record_of("objectives", state_file).unlink(missing_ok=True)


def agreed(state_file: str) -> Objective | None:
    """None: there is no agreement yet, or it cannot be read."""
    with suppress(OSError, msgspec.MsgspecError, Unavailable):
        return msgspec.json.decode(sealed_content(record_of("objectives", state_file)), type=_Agreement).objective
    return None


def is_agreement_forged(state_file: str) -> bool:
    """Whether the copy was replaced by something that aotloop did not write: then it is unknown what was agreed on."""
    with suppress(Unavailable):
        return is_forged(record_of("objectives", state_file))
    return False


def difference(before: Objective, now: Objective) -> list[str]:
    """Lines of a diff without its heading; empty if both objectives mean the same.

    The limits in force are compared, because earlier versions stored the defaults of limits that were not set.
    """
    if before == now:
        return []
    lines = unified_diff(list(_lines(before)), list(_lines(now)), n=0, lineterm="")
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def _lines(objective: Objective) -> Iterator[str]:
    limits = msgspec.to_builtins(limits_of(objective.constraints)) | {"effort": objective.constraints.effort}
    del limits["attempts_per_atom"]  # follows from effort
    yield from _flat(msgspec.to_builtins(objective, str_keys=True) | {"constraints": limits}, "")


def _flat(value: object, path: str) -> Iterator[str]:
    """As JSON, so that text and an equal-looking number differ, and so do null and an empty list."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list | tuple) and value:
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{number}]")
    elif value is not None:
        yield f"{path}: {msgspec.json.encode(value).decode()}"
