"""Wishes become corrections of one loop, one after the other in a fixed order, each on what those before it left.

Alignment, constraints, then the graph: add, remove, choose, summary, retry. What cannot be is refused as the machine
refuses it; what would change nothing is refused here, because a correction resets things.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import msgspec
from msgspec.structs import replace

from aotloop.cli.names import known_atom, known_group
from aotloop.cli.redirecting.limits import in_force
from aotloop.cli.redirecting.wishes import Wishes
from aotloop.core import events
from aotloop.core.effects import Effect
from aotloop.core.limits import limits_of
from aotloop.core.machine import advance
from aotloop.core.model import BaseCase, Loop, Objective
from aotloop.errors import AotError


class Corrected(msgspec.Struct, frozen=True):
    effects: list[Effect]
    told: list[str]
    """What was changed, one sentence for each; the log may have the person's own words instead."""


def correct(loop: Loop, wishes: Wishes, at: str, agreed: Objective | None = None) -> Corrected:
    """`agreed`: what the objective was when it was last agreed on."""
    parts = (
        _file(loop, wishes, at, agreed),
        _alignment(loop, wishes, at),
        _constraints(loop, wishes, at),
        _addition(loop, wishes, at),
        _removal(loop, wishes, at),
        _choice(loop, wishes, at),
        _summary(loop, wishes, at),
        _retry(loop, wishes, at),
    )
    done = Corrected([], [])
    for event in chain(*parts):  # each part looks at the loop only when its turn has come
        done.told.append(event.description)
        in_words = replace(event, description=wishes.reason) if wishes.reason is not None else event
        done.effects.extend(advance(loop, in_words))
    return done


Corrections = Iterator[events.Corrected]


def _file(loop: Loop, wishes: Wishes, at: str, agreed: Objective | None) -> Corrections:
    if not wishes.takes_file or agreed is None or agreed == loop.objective:
        return
    said = "accepted what had been changed in the file"
    if replace(agreed, constraints=loop.objective.constraints) == loop.objective:
        yield events.ConstraintsCorrected(constraints=loop.objective.constraints, description=said, at=at)
    else:
        yield events.ObjectiveCorrected(objective=loop.objective, description=said, at=at)


def _alignment(loop: Loop, wishes: Wishes, at: str) -> Corrections:
    if not wishes.is_about_alignment:
        return
    now = loop.objective
    for pattern in wishes.unprotect:
        if pattern not in now.protect:
            raise AotError(f"{pattern} is not protected", hint=f"Protected: {', '.join(now.protect) or 'nothing'}.")
    kept = [pattern for pattern in now.protect if pattern not in wishes.unprotect]
    protect = tuple(dict.fromkeys((*kept, *wishes.protect)))
    base_case = wishes.base_case if wishes.base_case is not None else now.base_case
    wanted = replace(now, **wishes.words, base_case=base_case, protect=protect)
    if wanted == now:
        raise AotError("the objective says so already; nothing was changed")
    said = "; ".join(_told(now, wanted))
    yield events.ObjectiveCorrected(objective=wanted, description=said, at=at)


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


def _constraints(loop: Loop, wishes: Wishes, at: str) -> Corrections:
    if not wishes.limits:
        return
    now = loop.objective.constraints
    wanted = replace(now, **wishes.limits)
    if wanted == now:
        raise AotError("the constraints say so already; nothing was changed")
    changed = {name: value for name, value in wishes.limits.items() if value != getattr(now, name)}
    changes = [f"{name} {in_force(now, name)} → {in_force(wanted, name)}" for name in changed]
    yield events.ConstraintsCorrected(constraints=wanted, description=", ".join(changes), at=at)


def _addition(loop: Loop, wishes: Wishes, at: str) -> Corrections:
    if wishes.added is None:
        return
    for needed in wishes.added.depends_on:
        known_atom(loop, needed)
    said = f"added: {wishes.added.description}"
    yield events.ScopeExtended(added=wishes.added, description=said, at=at)


def _removal(loop: Loop, wishes: Wishes, at: str) -> Corrections:
    for atom_id in wishes.removed:
        atom = known_atom(loop, atom_id)
        said = f"took out {atom_id}: {atom.description}"
        yield events.ScopeReduced(atom=atom_id, description=said, at=at)


def _choice(loop: Loop, wishes: Wishes, at: str) -> Corrections:
    for group, choice in wishes.chosen:
        known_group(loop, group)
        selected = loop.or_groups[group].selected
        instead = f" instead of {selected}" if selected != choice else ""
        said = f"{group} goes on with {choice}{instead}"
        yield events.ChoiceForced(or_group=group, choice=choice, description=said, at=at)


def _summary(loop: Loop, wishes: Wishes, at: str) -> Corrections:
    for atom_id, text in wishes.summaries:
        known_atom(loop, atom_id)
        binding = loop.bindings.get(atom_id)
        yield events.BindingOverridden(
            atom=atom_id,
            summary=text,
            artifacts=binding.artifacts if binding is not None else (),
            description=f"the result of {atom_id} is now: {text}",
            at=at,
        )


def _retry(loop: Loop, wishes: Wishes, at: str) -> Corrections:
    for atom_id in wishes.retried:
        known_atom(loop, atom_id)
        said = f"{atom_id} starts afresh: nothing is held against it any more, {_granted(loop)}"
        yield events.RetryGranted(atom=atom_id, description=said, at=at)


def _granted(loop: Loop) -> str:
    """A share of attempts, which any atom may use; but a number of attempts that a person has set stays."""
    limits = limits_of(loop.objective.constraints)
    if limits.max_total_attempts is not None:
        return f"but the loop may make no more attempts than before (max_total_attempts={limits.max_total_attempts})"
    return f"and the loop may make {limits.attempts_per_atom} more attempts"
