"""Edits of the file while a run holds it in memory: which of them are accepted, and which are restored.

Commands of ours make corrections, and every correction raises the epoch: such a file is accepted as it is. Any other
change is an edit by hand, perhaps from a buffer that is hours old. Added and reworded text is accepted. Facts that only
the machine establishes (status, results, counters, history) are restored, with a notice.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.invariants import findings_of
from aotloop.core.model import Atom, Control, Correction, Loop, OrGroup
from aotloop.text.phrases import corrected, listed

REWORDED = (
    "description",
    "depends_on",
    "run",
    "check",
    "covers",
    "touches",
    "parallel",
    "probe",
    "agent",
    "timeout",
    "estimate",
)
"""Fields of an atom that a person writes."""


class Edits(msgspec.Struct, kw_only=True):
    loop: Loop | None = None
    """The loop from now on; None: it is unchanged, apart from the requests."""
    requests: list[events.Event] = []
    taken: list[str] = []
    restored: list[str] = []
    objective_changed: bool = False


def edits(
    known: Loop,
    found: Loop,
    ours: Loop,
    *,
    at: str,
    adopt: bool = True,
    is_old: bool = False,
    past: Collection[str] = (),
) -> Edits:
    """`known`: the file at the last look; `ours` goes on from there, and may be ahead of it.

    `adopt`: a file of a higher epoch is accepted as a whole, unless ours is ahead: then no command has written it.
    `is_old`: the file shows a runtime from before this run, so the buffer is at least as old; its request to stop is
    not meant for this run. `past`: atoms that existed and were removed since.
    """
    if adopt and found.control.epoch > ours.control.epoch:
        return _adopted(known, found)
    result = Edits()
    if not is_old:
        _take_requests(known.control, found.control, result)
    candidate = ours.snapshot()
    if found.objective != known.objective:
        result.objective_changed = True
        candidate.objective = found.objective
    _take_verdict(known, found, candidate)
    _restore_control(known.control, found.control, result, is_old=is_old)
    _take_atoms(known, found, candidate, result, past)
    _take_groups(known, found, candidate, result)
    _restore_facts(known, found, result)
    return _settled(result, candidate, ours, at)


def _adopted(known: Loop, found: Loop) -> Edits:
    entries = [corrected(change.type, change.description) for change in found.corrections[len(known.corrections) :]]
    if found.control.redirect_requested and not known.control.redirect_requested:
        entries.append("a person wants to change direction; everything waits")
    return Edits(loop=found.snapshot(), taken=entries, objective_changed=found.objective != known.objective)


def _settled(result: Edits, candidate: Loop, ours: Loop, at: str) -> Edits:
    """An edit that would leave mistakes in the file is not accepted."""
    errors = [finding for finding in findings_of(candidate) if finding.level == "error"]
    if errors and result.taken:
        refused = f"{'; '.join(result.taken)} (it cannot be taken: {errors[0]})"
        fallback = ours.snapshot()
        fallback.objective = candidate.objective
        return msgspec.structs.replace(result, loop=fallback, taken=[], restored=[*result.restored, refused])
    if result.taken:
        note = Correction(timestamp=at, type="dag_adjustment", description="; ".join(result.taken), trail_cleared=False)
        candidate.corrections.append(note)
    is_changed = bool(result.taken) or result.objective_changed or candidate.control != ours.control
    return msgspec.structs.replace(result, loop=candidate if is_changed else None)


# --- control -----------------------------------------------------------------------------------------------------


def _take_requests(known: Control, found: Control, result: Edits) -> None:
    is_current = found.epoch == known.epoch  # a buffer from before a redirect has an old request to redirect
    if is_current and found.redirect_requested and not known.redirect_requested:
        result.requests.append(events.RedirectRequested())
    if is_current and known.redirect_requested and not found.redirect_requested:
        result.requests.append(events.RedirectExpired())
    if found.paused != known.paused and found.ran_seconds == known.ran_seconds:  # else the buffer may be older
        result.requests.append(events.PauseRequested() if found.paused else events.PauseEnded())
    if found.stop_requested and not known.stop_requested:
        result.requests.append(events.StopRequested(reason=found.stop_reason))
    elif found.status == "stopped" != known.status:
        result.requests.append(events.StopRequested(reason=found.stop_reason or "the file says so"))


def _take_verdict(known: Loop, found: Loop, candidate: Loop) -> None:
    """A person ran `aot verify` meanwhile; an old buffer, or one that ours is ahead of, has no new verdict."""
    before, verdict = known.control, found.control.verdict
    is_new = verdict not in (None, before.verdict) and candidate.control.verdict == before.verdict
    if is_new and found.control.ran_seconds == before.ran_seconds:
        candidate.control = replace(candidate.control, verdict=verdict)


def _restore_control(known: Control, found: Control, result: Edits, *, is_old: bool) -> None:
    ours_alone = (
        "iteration",
        "stall_count",
        "prev_pending_count",
        "run_id",
        "epoch",
        "cost_usd",
        "used",
        "ran_seconds",
        "tried",
        "won",
        "needed",
        "fewest_unresolved",
        "shares",
        "prices",
    )
    changed = [name for name in ours_alone if getattr(known, name) != getattr(found, name)]
    if found.status not in ((known.status,) if is_old else (known.status, "stopped")):
        changed.append("status")
    if changed:
        result.restored.append(f"control: {', '.join(changed)}")


# --- atoms and groups --------------------------------------------------------------------------------------------


def _take_atoms(known: Loop, found: Loop, candidate: Loop, result: Edits, past: Collection[str]) -> None:
    before = {atom.id: atom for atom in known.atoms}
    now = {atom.id: atom for atom in found.atoms}
    places = {atom.id: place for place, atom in enumerate(candidate.atoms)}
    for atom in found.atoms:
        if atom.id in before:
            _reword(before[atom.id], atom, candidate, places, result)
        elif atom.id in past and atom.id not in places:
            result.restored.append(f"{atom.id}, which had been taken out; under another name it can be added")
        elif atom.id not in places:
            places[atom.id] = len(candidate.atoms)
            words = {name: getattr(atom, name) for name in REWORDED}
            candidate.atoms.append(
                Atom(id=atom.id, status="pending", or_group=atom.or_group, whole=atom.whole, **words)
            )
            result.taken.append(f"added {atom.id}")
    gone = [name for name in before if name not in now and name in places]
    if gone:
        result.restored.append(f"{listed(gone)}, which `aot redirect --remove` takes out")


def _reword(before: Atom, now: Atom, candidate: Loop, places: dict[str, int], result: Edits) -> None:
    if now == before or now.id not in places:
        return
    ours = candidate.atoms[places[now.id]]
    words = {name: getattr(now, name) for name in REWORDED if getattr(now, name) != getattr(before, name)}
    if words:
        candidate.atoms[places[now.id]] = replace(ours, **words)
        result.taken.append(f"changed {', '.join(words)} of {now.id}")
    facts = [name for name in Atom.__struct_fields__ if name not in REWORDED]
    undone = [name for name in facts if getattr(now, name) != getattr(before, name)]
    if undone:
        result.restored.append(f"{now.id}: {', '.join(undone)}")


def _take_groups(known: Loop, found: Loop, candidate: Loop, result: Edits) -> None:
    for name, group in found.or_groups.items():
        before, ours = known.or_groups.get(name), candidate.or_groups.get(name)
        if before is None and ours is None:
            candidate.or_groups[name] = OrGroup(
                choices=group.choices, selected=group.selected, speculative=group.speculative
            )
            result.taken.append(f"added group {name}")
        elif before is not None and ours is not None and group != before:
            candidate.or_groups[name] = _grown(name, before, group, ours, result)
    gone = [name for name in known.or_groups if name not in found.or_groups]
    if gone:
        result.restored.append(f"groups {listed(gone)}")


def _grown(name: str, before: OrGroup, now: OrGroup, ours: OrGroup, result: Edits) -> OrGroup:
    new = tuple(choice for choice in now.choices if choice not in before.choices)
    if new or now.speculative != before.speculative:
        result.taken.append(f"changed group {name}")
    facts = [field for field in OrGroup.__struct_fields__ if field not in ("choices", "speculative")]
    undone = [field for field in facts if getattr(now, field) != getattr(before, field)]
    undone += ["choices"] if any(choice not in now.choices for choice in before.choices) else []
    if undone:
        result.restored.append(f"group {name}: {', '.join(undone)}")
    return replace(ours, choices=(*ours.choices, *new), speculative=now.speculative)


# --- the rest ----------------------------------------------------------------------------------------------------


def _restore_facts(known: Loop, found: Loop, result: Edits) -> None:
    for name in ("decompositions", "trail", "corrections"):
        if getattr(known, name) != getattr(found, name):
            result.restored.append(name)
    if known.bindings != found.bindings:
        result.restored.append("bindings, which `aot redirect --summary` describes anew")
