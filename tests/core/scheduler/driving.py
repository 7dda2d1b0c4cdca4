"""A driver for tests: tells a run what the test says, remembers what it was asked for, and watches that it behaves.

Everything it knows, it knows from effects: it looks into a run no more than a real driver does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from aotloop.core.effects import (
    CancelAttempt,
    CancelVerification,
    CheckParent,
    Effect,
    Finished,
    Integrate,
    Revert,
    StartAttempt,
    VerifyBaseCase,
)
from aotloop.core.events import Child, Event
from aotloop.core.graph.work_graph import Graph
from aotloop.core.measure import attempts_left
from aotloop.core.model import Atom, Loop, OrGroup, Verdict
from aotloop.core.objective import digest_of
from aotloop.core.policy.turns import patience
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.decisions import conduct
from aotloop.core.scheduler.run_state import Run

NOON = "2026-03-03T12:00:00Z"
E = TypeVar("E", bound=Effect)


class Driver:
    """Of a run that has not begun. Named limits go into the loop's constraints."""

    def __init__(
        self, loop: Loop, *, overriding: Mapping[str, Any] | None = None, first_attempt: int = 1, **limits: Any
    ) -> None:
        loop.objective = replace(loop.objective, constraints=replace(loop.objective.constraints, **limits))
        self.run = Run(loop, overriding=overriding, first_attempt=first_attempt)
        self.loop = loop
        self.effects: list[Effect] = []
        self.finished: Finished | None = None
        self.verifying: int | None = None
        self.checking: list[str] = []
        self.reverting: list[tuple[str, ...]] = []
        self._started: dict[int, StartAttempt] = {}
        self._working: list[int] = []
        self._merging: int | None = None
        self._iterations_before = loop.control.iteration

    # --- what a test asks ----------------------------------------------------------------------------------------

    @property
    def running(self) -> list[str]:
        """Atoms that somebody works on or looks at, in the order in which that began."""
        return [self._started[number].atom for number in self._working]

    @property
    def probing(self) -> list[str]:
        return [one.atom for one in map(self._started.__getitem__, self._working) if one.role == "probe"]

    @property
    def merging(self) -> str | None:
        return self._started[self._merging].atom if self._merging is not None else None

    @property
    def reason(self) -> str:
        assert self.finished is not None, f"it goes on: {self.running} {self.effects[-3:]}"
        return self.finished.reason or ""

    def number(self, atom_id: str) -> int:
        """Of the latest attempt at this atom."""
        return max(number for number, start in self._started.items() if start.atom == atom_id)

    def all(self, kind: type[E]) -> list[E]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def cancelled(self, *, discard: bool = True) -> list[str]:
        return [effect.atom for effect in self.all(CancelAttempt) if effect.discard == discard]

    def atom(self, atom_id: str) -> Atom:
        return next(one for one in self.loop.atoms if one.id == atom_id)

    def status(self, atom_id: str) -> str:
        return self.atom(atom_id).status

    def group(self, name: str) -> OrGroup:
        return self.loop.or_groups[name]

    # --- what a test takes as given ------------------------------------------------------------------------------

    def impatient(self, *atom_ids: str) -> None:
        """They have failed so often that the next failure is more than bad luck explains."""
        for atom_id in atom_ids:
            self.run.board.put(replace(self.run.board.atoms[atom_id], failures=99))

    def worn_out(self, atom_id: str) -> None:
        """A repair, or a whole: the next failure is the last that patience allows."""
        last = patience(self.loop) - 1
        self.run.board.put(replace(self.run.board.atoms[atom_id], attempts=last, failures=last))

    def ends_soon(self) -> None:
        """The generation that is under way lasts for no more attempts than are."""
        generation = replace(self.loop.control.generation, least=1)
        self.loop.control = replace(self.loop.control, generation=generation)

    # --- what a test tells ---------------------------------------------------------------------------------------

    def tell(self, report: reports.Report) -> list[Effect]:
        """What follows from this report."""
        if isinstance(report, reports.Verified) and report.number == self.verifying:
            self.verifying = None
        effects = conduct(self.run, report)
        self.effects += effects
        for effect in effects:
            self._note(effect)
        self._watch()
        return effects

    def begin(self, commit: str | None = None) -> list[Effect]:
        return self.tell(reports.Began(at=NOON, commit=commit))

    def told(self, event: Event) -> list[Effect]:
        return self.tell(reports.Happened(event=event, at=NOON))

    def replaced(self) -> list[Effect]:
        return self.tell(reports.LoopReplaced(at=NOON))

    def found(self, atom_id: str) -> list[Effect]:
        return self.tell(reports.ResultFound(atom=atom_id, summary=f"did {atom_id} before", at=NOON))

    def done(self, atom_id: str, artifacts: tuple[str, ...] = ()) -> list[Effect]:
        return self._report(reports.WorkDone, atom_id, summary=f"did {atom_id}", artifacts=artifacts)

    def fail(self, atom_id: str, reason: str = "it broke", **more: Any) -> list[Effect]:
        return self._report(reports.WorkFailed, atom_id, reason=reason, **more)

    def propose(self, atom_id: str, *children: str | Child) -> list[Effect]:
        parts = tuple(Child(description=one) if isinstance(one, str) else one for one in children)
        return self._report(reports.ChildrenProposed, atom_id, children=parts, reason="too much at once")

    def probe(
        self, atom_id: str, *, feasible: bool = True, estimate: float | None = None, children: tuple[Child, ...] = ()
    ) -> list[Effect]:
        findings = "looks fine" if feasible else "cannot be done"
        return self._report(
            reports.ProbeReturned, atom_id, feasible=feasible, findings=findings, estimate=estimate, children=children
        )

    def wait(self, atom_id: str, reason: str = "rate limit", *, for_good: bool = False) -> list[Effect]:
        return self._report(reports.MustWait, atom_id, reason=reason, for_good=for_good)

    def wait_over(self, atom_id: str) -> list[Effect]:
        return self.tell(reports.WaitOver(atom=atom_id, at=NOON))

    def merge(self, commit: str | None = None) -> list[Effect]:
        return self._answer_merge(reports.Merged, commit=commit)

    def refuse(self, reason: str = "its check fails now", **more: Any) -> list[Effect]:
        return self._answer_merge(reports.MergeRefused, reason=reason, **more)

    def conflict(self, *others: str) -> list[Effect]:
        return self._answer_merge(reports.MergeConflicted, others=others)

    def block(self, reason: str = "README.md has uncommitted changes") -> list[Effect]:
        return self._answer_merge(reports.MergeBlocked, reason=reason)

    def unblock(self, atom_id: str) -> list[Effect]:
        return self.tell(reports.Unblocked(attempt=self.number(atom_id), at=NOON))

    def resolve(self, *atom_ids: str) -> list[Effect]:
        """Done and merged, one after the other; what followed from the last."""
        effects: list[Effect] = []
        for atom_id in atom_ids:
            self.done(atom_id)
            assert self.merging == atom_id
            effects = self.merge()
        return effects

    def reverted(self, problem: str | None = None) -> list[Effect]:
        self.reverting.pop(0)
        return self.tell(reports.Reverted(problem=problem, at=NOON))

    def check_parent(self, atom_id: str, reason: str = "") -> list[Effect]:
        """It passes, or does not, for this reason."""
        self.checking.remove(atom_id)
        return self.tell(reports.ParentChecked(atom=atom_id, passed=not reason, reason=reason, at=NOON))

    def verdict(
        self, failing: Mapping[str, str] | None = None, *, undecided: bool = False, commit: str | None = None
    ) -> list[Effect]:
        """Without failing items, and not undecided, the base case holds."""
        assert self.verifying is not None, "nobody asked for a verdict"
        return self.tell(self.a_verdict(self.verifying, failing, undecided=undecided, commit=commit))

    def a_verdict(
        self,
        number: int,
        failing: Mapping[str, str] | None = None,
        *,
        undecided: bool = False,
        commit: str | None = None,
    ) -> reports.Verified:
        items = dict(failing or {})
        verdict = Verdict(
            passed=not items and not undecided,
            objective_digest=digest_of(self.loop.objective),
            at=NOON,
            commit=commit,
            undecided=undecided,
            failing=tuple(items),
        )
        return reports.Verified(number=number, verdict=verdict, evidence=items, at=NOON)

    # --- how it keeps track --------------------------------------------------------------------------------------

    def _report(self, kind: type[reports.OfAttempt], atom_id: str, **terms: Any) -> list[Effect]:
        number = next(one for one in self._working if self._started[one].atom == atom_id)
        self._working.remove(number)
        return self.tell(kind(attempt=number, at=NOON, **terms))

    def _answer_merge(self, kind: type[reports.OfAttempt], **terms: Any) -> list[Effect]:
        assert self._merging is not None, "nothing is being merged"
        number, self._merging = self._merging, None
        return self.tell(kind(attempt=number, at=NOON, **terms))

    def _note(self, effect: Effect) -> None:
        assert self.finished is None, f"{effect} after the end"
        match effect:
            case StartAttempt(attempt=number):
                assert number not in self._started, "numbers are not used again"
                assert not self.reverting, "nothing starts before all is taken back"
                self._started[number] = effect
                self._working.append(number)
            case CancelAttempt(attempt=number):
                self._working = [one for one in self._working if one != number]
                self._merging = None if self._merging == number else self._merging
            case Integrate(attempt=number):
                assert self._branch_is_free(), "one thing at a time"
                self._started.setdefault(number, StartAttempt(attempt=number, atom=effect.atom, epoch=0, role="worker"))
                self._merging = number
            case VerifyBaseCase(number=number):
                assert self._branch_is_free(), "nothing moves while the base case is tried"
                self.verifying = number
            case CancelVerification():
                self.verifying = None
            case CheckParent(atom=atom_id):
                self.checking.append(atom_id)
            case Revert(atoms=atoms):
                assert self._merging is self.verifying is None, "nothing is taken back meanwhile"
                assert not self.checking
                self.reverting.append(atoms)
            case Finished():
                self.finished = effect

    def _branch_is_free(self) -> bool:
        return self._merging is None and self.verifying is None and not self.checking and not self.reverting

    def _watch(self) -> None:
        """What holds after every report."""
        limits = self.run.limits
        assert len(self._working) <= limits.max_parallel_agents, "no more agents than slots"
        assert self.loop.control.iteration <= max(limits.max_iterations, self._iterations_before)
        assert len(self._working) <= attempts_left(self.loop, limits), "no more attempts than are left"
        graph = Graph(self.loop)
        assert self.run.board.ready() == graph.ready()
        for one in self.run.all_attempts():
            is_of_use = graph.atoms[one.atom].status == "in_progress" and graph.why_not_wanted(one.atom) is None
            assert is_of_use, "what is of no use any more is called off"
        for name, group in self.loop.or_groups.items():
            given_up = group.selected in group.failed or group.selected in group.blamed
            assert not given_up, f"{name} goes on with a choice that has had its turn"
        if self.finished is not None:
            assert not self._working
            assert self._merging is self.verifying is None
            assert self.loop.control.status == self.finished.status


def begun(loop: Loop, **limits: Any) -> Driver:
    """Of a run whose base case did not hold at the start."""
    driver = Driver(loop, **limits)
    driver.begin()
    driver.verdict({"tests": "3 failed"})
    return driver


def contents(loop: Loop) -> Any:
    return msgspec.to_builtins(loop, str_keys=True)


def speculative(loop: Loop, name: str) -> Loop:
    loop.or_groups[name] = replace(loop.or_groups[name], speculative=True)
    return loop
