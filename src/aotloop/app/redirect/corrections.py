"""Wanted changes become corrections of one loop, one after the other, in a fixed order.

Alignment, constraints, then the graph: add, remove, choose, results, retry. The machine refuses what cannot be; a
correction that would change nothing is refused here, because every correction resets something.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import msgspec
from msgspec.structs import replace

from aotloop.app.loops import known_atom, known_group
from aotloop.app.redirect.changes import Changes
from aotloop.app.redirect.constraint_text import in_force
from aotloop.core import events
from aotloop.core.effects import Effect
from aotloop.core.limits import limits_of
from aotloop.core.machine import advance
from aotloop.core.measure import limit_after_retry
from aotloop.core.model import BaseCase, Loop, Objective
from aotloop.errors import AotError


class Corrected(msgspec.Struct, frozen=True):
    effects: list[Effect]
    told: list[str]
    """One sentence for each change; the log may contain the person's own words instead."""


def correct(loop: Loop, changes: Changes, at: str, agreed: Objective | None = None) -> Corrected:
    """`agreed`: what the objective was when it was last agreed on."""
    parts = (
        _file(loop, changes, at, agreed),
        _alignment(loop, changes, at),
        _constraints(loop, changes, at),
        _addition(loop, changes, at),
        _removal(loop, changes, at),
        _choice(loop, changes, at),
        _results(loop, changes, at),
        _retry(loop, changes, at),
    )
    done = Corrected([], [])
    for event in chain(*parts):  # each part reads the loop after the parts before it
        done.told.append(event.description)
        in_words = replace(event, description=changes.reason) if changes.reason is not None else event
        done.effects.extend(advance(loop, in_words))
    return done


Corrections = Iterator[events.Corrected]


def _file(loop: Loop, changes: Changes, at: str, agreed: Objective | None) -> Corrections:
    if not changes.takes_file or agreed is None or agreed == loop.objective:
        return
    message = "accepted the changes in the file"
    if replace(agreed, constraints=loop.objective.constraints) == loop.objective:
        yield events.ConstraintsCorrected(constraints=loop.objective.constraints, description=message, at=at)
    else:
        yield events.ObjectiveCorrected(objective=loop.objective, description=message, at=at)


def _alignment(loop: Loop, changes: Changes, at: str) -> Corrections:
    if not changes.is_about_alignment:
        return
    now = loop.objective
    for pattern in changes.unprotect:
        if pattern not in now.protect:
            raise AotError(f"{pattern} is not protected", hint=f"Protected: {', '.join(now.protect) or 'nothing'}.")
    kept = [pattern for pattern in now.protect if pattern not in changes.unprotect]
    protect = tuple(dict.fromkeys((*kept, *changes.protect)))
    base_case = changes.base_case if changes.base_case is not None else now.base_case
    wanted = replace(now, **changes.words, base_case=base_case, protect=protect)
    if wanted == now:
        raise AotError("the objective is already like this; nothing was changed")
    changed = "; ".join(_told(now, wanted))
    yield events.ObjectiveCorrected(objective=wanted, description=changed, at=at)


def _told(before: Objective, now: Objective) -> Iterator[str]:
    for name in ("goal", "background_intent", "deliverables", "definition_of_done"):
        if getattr(now, name) != getattr(before, name):
            yield f"{name} is now: {getattr(now, name)}"
    if now.base_case != before.base_case:
        yield f"base_case is now: {_items(now.base_case)}"
    if now.protect != before.protect:
        yield f"protected is now: {', '.join(now.protect) or 'nothing'}"


def _items(base_case: BaseCase) -> str:
    if base_case.checklist is not None:
        return ", ".join(item.item for item in base_case.checklist)
    return f"{base_case.type}: {base_case.value or base_case.criteria or 'rubric'}"


def _constraints(loop: Loop, changes: Changes, at: str) -> Corrections:
    if not changes.limits:
        return
    now = loop.objective.constraints
    wanted = replace(now, **changes.limits)
    if wanted == now:
        raise AotError("the constraints are already like this; nothing was changed")
    changed = {name: value for name, value in changes.limits.items() if value != getattr(now, name)}
    parts = [f"{name} {in_force(now, name)} → {in_force(wanted, name)}" for name in changed]
    yield events.ConstraintsCorrected(constraints=wanted, description=", ".join(parts), at=at)


def _addition(loop: Loop, changes: Changes, at: str) -> Corrections:
    if changes.added is None:
        return
    for needed in changes.added.depends_on:
        known_atom(loop, needed)
    description = f"added: {changes.added.description}"
    yield events.ScopeExtended(added=changes.added.event, description=description, at=at)


def _removal(loop: Loop, changes: Changes, at: str) -> Corrections:
    for atom_id in changes.removed:
        atom = known_atom(loop, atom_id)
        description = f"removed {atom_id}: {atom.description}"
        yield events.ScopeReduced(atom=atom_id, description=description, at=at)


def _choice(loop: Loop, changes: Changes, at: str) -> Corrections:
    for group, choice in changes.chosen:
        known_group(loop, group)
        selected = loop.or_groups[group].selected
        instead = f" instead of {selected}" if selected != choice else ""
        description = f"{group} continues with {choice}{instead}"
        yield events.ChoiceForced(or_group=group, choice=choice, description=description, at=at)


def _results(loop: Loop, changes: Changes, at: str) -> Corrections:
    for result in changes.results:
        known_atom(loop, result.atom)
        binding = loop.bindings.get(result.atom)
        before = binding.artifacts if binding is not None else ()
        yield events.BindingOverridden(
            atom=result.atom,
            summary=result.summary,
            artifacts=result.artifacts if result.artifacts is not None else before,
            description=f"the result of {result.atom} is now: {result.summary}",
            at=at,
        )


def _retry(loop: Loop, changes: Changes, at: str) -> Corrections:
    for atom_id in changes.retried:
        known_atom(loop, atom_id)
        description = f"{atom_id} starts again: its failures no longer count, {_granted(loop)}"
        yield events.RetryGranted(atom=atom_id, description=description, at=at)


def _granted(loop: Loop) -> str:
    """A share of attempts that any atom may use; of a limit that a person set, at least what one atom may need."""
    limit = limit_after_retry(loop)
    if limit is None:
        return f"and the loop may make {limits_of(loop.objective.constraints).attempts_per_atom} more attempts"
    is_raised = limit != loop.objective.constraints.max_total_attempts
    change = f"max_total_attempts is raised to {limit}" if is_raised else f"max_total_attempts stays at {limit}"
    return f"and the loop may make {limit - loop.control.tried} more attempts: {change}"
