"""One state of the exploration: a run that notes its events, and everything that can happen to it next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.core import events
from aotloop.core.effects import Backtracked, Effect
from aotloop.core.events import Child, Event
from aotloop.core.graph.board import Board
from aotloop.core.graph.conflict_set import untried
from aotloop.core.model import Atom, Loop, Verdict
from aotloop.core.policy import turns
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Run
from prove.oracle import Plain
from prove.shapes import DIGEST, MANY, Setting

AT = "now"
COSTLY = 5.0
MOST_EVENTS = 300
"""In one step; with more, it goes round in circles."""


class NotedRun(Run):
    """Keeps the events of the present step, so that the step can be judged by them."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        self.noted: list[Event] = []
        self.last_began = -1
        """How many merges there had been when the attempt now reported began."""
        self.judged: Loop | None = None
        """As it was when the generation ended, if one ended in this step."""
        self.blocked_then: set[str] = set()
        """Atoms whose results waited for a person then."""
        self.began: Loop | None = None
        """As it was when another generation began, if one did."""
        self.switched: list[tuple[bool, str, str]] = []
        """Whether after a generation's end, which group, and what it took."""
        self.grown_by = 0
        """Unresolved atoms more, by decomposition."""

    def advance(self, event: Event) -> list[Effect]:
        self.noted.append(event)
        if len(self.noted) > MOST_EVENTS:
            raise RecursionError("it goes round in circles")
        if isinstance(event, events.GenerationEnded):
            self.judged = self.loop.snapshot()
            self.blocked_then = {one.atom for one in self.blocked.values()}
        elif isinstance(event, events.GenerationBegan) and not self.loop.control.generation.least:
            self.began = self.loop.snapshot()
        unresolved = unresolved_of(self.loop) if isinstance(event, events.AtomDecomposed) else 0
        effects = super().advance(event)
        is_later = self.judged is not None
        self.switched += [(is_later, one.or_group, one.selected) for one in effects if isinstance(one, Backtracked)]
        if isinstance(event, events.AtomDecomposed):
            self.grown_by += unresolved_of(self.loop) - unresolved
        return effects


def unresolved_of(loop: Loop) -> int:
    plain = Plain(loop)
    return sum(plain.atoms[one].repairs is None for one in plain.unresolved())


def fork(run: NotedRun) -> NotedRun:
    copy = NotedRun.__new__(NotedRun)
    copy.__dict__.update(run.__dict__)
    copy.board = Board(run.loop.snapshot())
    copy.attempts, copy.blocked = run.attempts.copy(), run.blocked.copy()
    copy.to_merge, copy.blocked_by = run.to_merge.copy(), run.blocked_by.copy()
    copy.to_revert = run.to_revert.copy()
    copy.waiting, copy.waits, copy.stuck, copy.held = (
        run.waiting.copy(),
        run.waits.copy(),
        run.stuck.copy(),
        run.held.copy(),
    )
    copy.apart, copy.members, copy.checking = run.apart.copy(), run.members.copy(), run.checking.copy()
    copy.failed, copy.sought = run.failed.copy(), run.sought.copy()
    copy.switched = []
    copy.noted, copy.judged, copy.began, copy.last_began, copy.grown_by = [], None, None, -1, 0
    return copy


def key_of(run: NotedRun) -> Any:
    """Equal for states that cannot be told apart by anything that happens later: numbers and texts do not count."""
    control = run.loop.control
    verdict = control.verdict
    attempts = tuple(
        (one.atom, one.role, one.merges == run.merges, number in run.members) for number, one in run.attempts.items()
    )
    is_settled = control.won >= MANY and control.needed - control.won < -6  # what is usual does not change
    return (
        tuple(map(_key_of_atom, run.loop.atoms)),
        tuple(
            (
                *(name, group.selected, group.failed, group.won, group.seen),
                *(tuple(sorted(one.items())) for one in (group.blamed, group.blames, group.hints)),
            )
            for name, group in run.loop.or_groups.items()
        ),
        tuple((split.parent, split.children) for split in run.loop.decompositions),
        tuple(run.loop.bindings),
        (control.status, control.iteration, control.stall_count, control.fewest_unresolved, control.tried),
        (control.stop_requested, control.redirect_requested, control.generation, control.prices.negative),
        None if is_settled else (control.won, control.needed),
        _last_reasons(run.loop) if turns.HOPELESS < NEVER else None,
        None
        if verdict is None
        else (verdict.passed, verdict.failing, verdict.fewest_failing, tuple(sorted(verdict.repair_rounds.items()))),
        attempts,
        tuple(attempt.atom for number in run.to_merge if (attempt := run.find(number)) is not None),
        tuple(run.to_revert),
        run.merging is None,
        tuple((one.atom, number in run.blocked_by) for number, one in run.blocked.items()),
        tuple(sorted(run.waiting)),
        tuple(sorted(run.waits.items())),
        tuple(sorted(run.stuck)),
        tuple(sorted(atom for atom, merges in run.held.items() if merges == run.merges)),
        tuple(sorted(tuple(sorted(pair)) for pair in run.apart)),
        (
            run.is_open,
            run.verifying is None,
            run.is_verified,
            run.reverting,
            run.has_begun,
            run.finished,
        ),
        tuple(sorted(run.checking)),
        (run.ending, run.can_be_unblocked),
    )


def _key_of_atom(atom: Atom) -> Any:
    return (
        *(atom.id, atom.status, atom.attempts, atom.failures, atom.partial, atom.probe, atom.findings is None),
        *(atom.estimate, atom.whole, atom.repairs, atom.alike if turns.HOPELESS < NEVER else None),
    )


def _last_reasons(loop: Loop) -> Any:
    return tuple(sorted({one.atom: one.reason for one in loop.trail if one.type == "failure" and one.atom}.items()))


NEVER = 99
"""So much patience that nothing is ever hopeless: how often a failure was the same makes no difference then."""


class Action(msgspec.Struct, frozen=True):
    name: str
    report: reports.Report
    counts: bool = False
    """Whether it is the end of an attempt that counts."""


def actions(run: NotedRun, setting: Setting, *, may_redirect: bool) -> Iterator[Action]:
    if run.finished:
        return
    if run.loop.control.redirect_requested:
        yield from _corrections(run)
        if not run.reverting and run.merging is None:
            return
    for number, attempt in run.attempts.items():
        if number not in run.to_merge:
            yield from _ends(run, setting, number, attempt.atom, attempt.role)
    yield from _merges(run, setting)
    yield from _checks(run, setting)
    for atom in run.waiting:
        yield Action(f"{atom} need not wait any longer", reports.WaitOver(atom=atom, at=AT))
    for number in run.blocked_by:
        attempt = run.blocked[number]
        yield Action(f"{attempt.atom} is no longer blocked", reports.Unblocked(attempt=number, at=AT))
    if setting.people and not run.loop.control.redirect_requested:
        yield from _people(run, may_redirect=may_redirect)


def _people(run: NotedRun, *, may_redirect: bool) -> Iterator[Action]:
    if run.loop.control.paused:
        yield Action("a person ends the pause", reports.Happened(event=events.PauseEnded(), at=AT))
    elif run.loop.control.status == "running":
        yield Action("a person pauses it", reports.Happened(event=events.PauseRequested(), at=AT))
    if not run.loop.control.stop_requested:
        yield Action("a person stops it", reports.Happened(event=events.StopRequested(reason="enough"), at=AT))
    if may_redirect:
        yield Action("a person redirects it", reports.Happened(event=events.RedirectRequested(), at=AT))


def _ends(run: NotedRun, setting: Setting, number: int, atom: str, role: str) -> Iterator[Action]:
    if role == "probe":
        found = reports.ProbeReturned(attempt=number, feasible=True, findings="can be done", estimate=COSTLY, at=AT)
        yield Action(f"the probe of {atom} says: feasible", found, counts=True)
        not_feasible = reports.ProbeReturned(attempt=number, feasible=False, findings="cannot be done", at=AT)
        yield Action(f"the probe of {atom} says: not feasible", not_feasible, counts=True)
    else:
        yield Action(f"{atom} is said to be done", reports.WorkDone(attempt=number, summary="done", at=AT))
        yield from _failures(run, setting, number, atom)
        if setting.proposals:
            yield from _proposals(number, atom)
    if setting.garbage:
        nonsense = reports.WorkFailed(attempt=number, reason="nonsense", at=AT)
        yield Action(f"the agent at {atom} talks nonsense", nonsense, counts=True)
    if setting.hindrances and run.waits.get(atom, 0) < 1:
        yield Action(f"{atom} has to wait", reports.MustWait(attempt=number, reason="rate limit", at=AT))


def _failures(run: NotedRun, setting: Setting, number: int, atom: str) -> Iterator[Action]:
    failed = reports.WorkFailed(attempt=number, reason="no", at=AT)
    yield Action(f"{atom} fails", failed, counts=True)
    if setting.progress:
        yield Action(f"{atom} fails, and leaves work that holds", replace(failed, progress=True), counts=True)
    if setting.asks and run.board.atoms[atom].findings is None:
        yield Action(f"{atom} fails, and asks for a probe", replace(failed, wants_probe=True), counts=True)
    if setting.hints:
        plain = Plain(run.loop)
        for name in sorted(plain.rests_on(atom)):
            chosen = run.loop.or_groups[name].selected
            if chosen != atom:
                hint = replace(failed, because_of=(chosen,))
                yield Action(f"{atom} fails because of {chosen}", hint, counts=True)


def _proposals(number: int, atom: str) -> Iterator[Action]:
    one = (Child(description="all of it"),)
    chain = (Child(description="first", name="a"), Child(description="then", depends_on=("a",)))
    either = (Child(description="either", or_group="way"), Child(description="or", or_group="way"))
    too_many = (Child(description="x"), Child(description="y"), Child(description="z"))
    for name, children in (("one part", one), ("two steps", chain), ("two ways", either), ("too many parts", too_many)):
        proposed = reports.ChildrenProposed(attempt=number, children=children, reason="too large", at=AT)
        yield Action(f"{atom} is proposed to have {name}", proposed, counts=True)


def _merges(run: NotedRun, setting: Setting) -> Iterator[Action]:
    if run.merging is not None:
        attempt = run.find(run.merging)
        assert attempt is not None
        yield Action(f"{attempt.atom} is merged", reports.Merged(attempt=run.merging, at=AT), counts=True)
        refused = reports.MergeRefused(attempt=run.merging, reason="no", at=AT)
        yield Action(f"{attempt.atom} fails its check", refused, counts=True)
        if setting.hindrances:
            if attempt.merges != run.merges:
                others = tuple(atom.id for atom in run.loop.atoms if atom.status == "resolved")
                conflict = reports.MergeConflicted(attempt=run.merging, others=others, at=AT)
                yield Action(f"{attempt.atom} conflicts", conflict)
            blocked = reports.MergeBlocked(attempt=run.merging, reason="a person's edits", at=AT)
            yield Action(f"{attempt.atom} cannot be merged now", blocked)
    if run.reverting:
        yield Action("reverted", reports.Reverted(at=AT))
        if setting.hindrances:
            yield Action("cannot be reverted", reports.Reverted(problem="conflict", at=AT))


def _checks(run: NotedRun, setting: Setting) -> Iterator[Action]:
    for atom in run.checking:
        yield Action(f"the check of {atom} passes", reports.ParentChecked(atom=atom, passed=True, at=AT))
        yield Action(f"the check of {atom} fails", reports.ParentChecked(atom=atom, passed=False, reason="no", at=AT))
    if run.verifying is not None:
        yield Action("the base case holds", verdict(run, {}))
        yield Action("the base case fails", verdict(run, {"item 1": "no"}))
        if setting.items > 1:
            yield Action("the base case fails twice", verdict(run, {"item 1": "no", "item 2": "no"}))


def verdict(run: NotedRun, failing: dict[str, str]) -> reports.Verified:
    made = Verdict(passed=not failing, objective_digest=DIGEST, at=AT, failing=tuple(failing))
    return reports.Verified(number=run.verifying or 0, verdict=made, evidence=failing, at=AT)


def _corrections(run: NotedRun) -> Iterator[Action]:
    told: list[tuple[str, Event]] = [("the dialogue is abandoned", events.RedirectExpired())]
    told.append(
        (
            "a person changes nothing but the limits",
            events.ConstraintsCorrected(constraints=run.loop.objective.constraints, description="as it was", at=AT),
        )
    )
    for name, group in run.loop.or_groups.items():
        for choice in untried(run.board, group)[:1]:
            forced = events.ChoiceForced(or_group=name, choice=choice, description="that one", at=AT)
            told.append((f"a person forces {choice}", forced))
    for name, event in told:
        yield Action(name, reports.Happened(event=event, at=AT))
