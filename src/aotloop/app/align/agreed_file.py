"""An agreement becomes a state file: a new one, or the present one, aligned again. Everything is written, or nothing.

What the person accepted (commands, the objective) is first recorded in the user's data folder, then written to the
file. So the file never contains something without a recorded agreement.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import msgspec

from aotloop.app.align.draft import Draft, draft_of
from aotloop.app.align.shape import Shape, shape_of
from aotloop.app.loops import refuse_while_run
from aotloop.clock import now
from aotloop.core.commands import commands_of
from aotloop.core.events import Realigned
from aotloop.core.machine import advance
from aotloop.core.model import Loop, Objective
from aotloop.errors import StateFileBusy, StateFileInvalid, Unavailable
from aotloop.exit_codes import NOT_READY
from aotloop.process.process_group import kill_orphans
from aotloop.statefile.lease import lease
from aotloop.statefile.store import Store
from aotloop.statefile.yaml import emitter
from aotloop.trust.objectives import agree, agreed, forget

_FILE = """\
---
{objective}
# Kept by aot; leave it alone.
{control}
# The work. Atoms wait for those they depend on; the others run in parallel.
{graph}---

# Original Prompt

{request}
"""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    is_new: bool
    is_changed: bool = True
    atoms: tuple[str, ...]
    kept: tuple[str, ...] = ()
    """Atoms that were resolved before, and are."""
    undone: tuple[str, ...] = ()
    """Atoms that were resolved before, and now are open or removed. Their commits stay on the branch."""


Accept = Callable[[list[str]], None]
"""Remembers that the person accepted these commands."""


def loop_in(store: Store) -> Loop | None:
    """The loop that is aligned again; None if there is no file. Raises StateFileBusy while it runs."""
    if not os.path.lexists(store.path):
        return None
    refuse_while_run(store)
    return store.load()


def write(store: Store, draft: Draft, *, before: Loop | None, request: str, accept: Accept) -> Written:
    """`before`: the loop that the draft began from. `request`: a person's words, kept below the YAML of a new file."""
    if before is None:
        return _create(store, draft, request, accept)
    return _realign(store, draft, before, accept)


def _create(store: Store, draft: Draft, request: str, accept: Accept) -> Written:
    loop = agreeable(shape_of(draft)).loop
    with _agreement_put_back_on_failure(store) as agree_on:

        def remember() -> None:
            accept(commands_of(loop))
            agree_on(loop.objective)

        store.create(new_file(loop, request), before_writing=remember)
    return Written(is_new=True, atoms=tuple(atom.id for atom in loop.atoms))


def new_file(loop: Loop, request: str) -> bytes:
    data = emitter.to_data(loop)
    objective, control = (emitter.pair(name, data.pop(name), 0) for name in ("objective", "control"))
    graph = "".join(emitter.pair(name, value, 0) for name, value in data.items())
    text = _FILE.format(
        objective=objective, control=control, graph=graph, request=request.strip() or loop.objective.goal.strip()
    )
    return text.encode()


def _realign(store: Store, draft: Draft, before: Loop, accept: Accept) -> Written:
    refuse_while_run(store)
    resolved = _resolved(before)

    def change(loop: Loop) -> Written:
        _refuse_if_changed(store, loop, before)
        wanted = agreeable(shape_of(draft, loop)).loop
        accept(commands_of(wanted))
        agree_on(wanted.objective)
        if _is_so_already(loop, wanted):
            return Written(is_new=False, is_changed=False, atoms=tuple(atom.id for atom in loop.atoms))
        advance(
            loop,
            Realigned(
                objective=wanted.objective,
                atoms=tuple(wanted.atoms),
                decompositions=tuple(wanted.decompositions),
                or_groups=wanted.or_groups,
                description=f"aligned again: {wanted.objective.goal}",
                at=now(),
            ),
        )
        kept = _resolved(loop)
        return Written(
            is_new=False,
            atoms=tuple(atom.id for atom in loop.atoms),
            kept=tuple(atom_id for atom_id in resolved if atom_id in kept),
            undone=tuple(atom_id for atom_id in resolved if atom_id not in kept),
        )

    with _both_leases(store), _agreement_put_back_on_failure(store) as agree_on:
        _end_leftovers(store.load())
        return store.update(change)


@contextmanager
def _agreement_put_back_on_failure(store: Store) -> Iterator[Callable[[Objective], None]]:
    """Yields a function that keeps the new agreement. If the file is not written then, the old one counts again."""
    replaced: list[Objective | None] = []

    def agree_on(objective: Objective) -> None:
        replaced.append(agreed(store.path))
        _agree(store, objective)

    try:
        yield agree_on
    except BaseException:
        if replaced and replaced[0] is not None:
            _agree(store, replaced[0])
        elif replaced:
            forget(store.path)
        raise


@contextmanager
def _both_leases(store: Store) -> Iterator[None]:
    with lease(store.path, "run", since=now()), lease(store.path, "redirect", since=now()):
        yield


def _refuse_if_changed(store: Store, loop: Loop, before: Loop) -> None:
    """Refuses if the file changed while the person was asked: that change would be lost with the replaced graph."""
    if draft_of(loop) != draft_of(before) or _resolved(loop) != _resolved(before):
        raise StateFileBusy(f"{store.path} was changed meanwhile; nothing was written", hint="Align it once more.")


def _end_leftovers(loop: Loop) -> None:
    """A run that crashed may have left processes. The next one begins under another name, and would not find them."""
    if loop.control.run_id is not None:
        kill_orphans(loop.control.run_id)


def _resolved(loop: Loop) -> list[str]:
    return [atom.id for atom in loop.atoms if atom.status == "resolved"]


def _is_so_already(loop: Loop, wanted: Loop) -> bool:
    """A loop that waits to be started, with all parts of the draft."""
    pending = [msgspec.structs.replace(atom, status="pending") for atom in loop.atoms]
    return loop.control.status == "pending" and (loop.objective, pending, loop.decompositions, loop.or_groups) == (
        wanted.objective,
        wanted.atoms,
        wanted.decompositions,
        wanted.or_groups,
    )


def agreeable(shape: Shape) -> Shape:
    """Raises StateFileInvalid, with all that is missing or wrong."""
    if not shape.gate.ready:
        raise _not_agreeable(shape)
    return shape


def _not_agreeable(shape: Shape) -> StateFileInvalid:
    missing = [requirement for requirement in shape.gate.missing if " " not in requirement]  # a key; else a sentence
    wrong = [requirement for requirement in shape.gate.missing if " " in requirement]
    problems = "; ".join(filter(None, (f"missing: {', '.join(missing)}" if missing else "", *wrong)))
    return StateFileInvalid(
        f"it cannot be agreed on yet: {problems}",
        hint="Nothing was written. Say it in the file that -f names; or leave --yes out, and be asked.",
        exit_code=NOT_READY,
    )


def _agree(store: Store, objective: Objective) -> None:
    with suppress(Unavailable):  # a home that cannot be written to costs the memory, not the agreement
        agree(store.path, objective)
