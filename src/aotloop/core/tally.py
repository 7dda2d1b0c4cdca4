"""What is noted while a generation goes on, so that at its end it can be told whether anything got smaller."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from aotloop.core.model import Atom, Loop


def something_got_smaller(loop: Loop) -> None:
    _note(loop, got_smaller=True)


def count_resolved(loop: Loop, atom: Atom) -> None:
    if atom.repairs is None:  # resolving repairs is never progress by itself
        _note(loop, resolved=loop.control.generation.resolved + 1)


def count_grown(loop: Loop, parent: str) -> None:
    _note(loop, grown=(*loop.control.generation.grown, parent))


def _note(loop: Loop, **changes: Any) -> None:
    if loop.control.status == "running":  # a loop that does not run has no generations
        loop.control = replace(loop.control, generation=replace(loop.control.generation, **changes))
