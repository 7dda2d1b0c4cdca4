"""Visits every path of the phase loop with small limits, and judges every step by its own laws.

This module knows whether each report to the loop is true or forged, so the laws do not have to believe the machine. A
phase is proven if a *good* receipt of it was filed; the machine's own opinion does not count. A path holds at most one
intervention of a person that could prolong it (resuming, refusing). An agent's notes (errors, checkpoints) are left
out, as they move nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import msgspec
from msgspec.structs import replace

from aotloop.core.phases import machine
from aotloop.core.phases.events import (
    ApprovalGiven,
    ApprovalRefused,
    Facts,
    IterationEnded,
    LoopCancelled,
    LoopResumed,
    LoopStopped,
    MoneySpent,
    PhaseEvent,
    PhaseForced,
    PromiseMade,
    ReceiptFiled,
)
from aotloop.core.phases.invariants import steps_left
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop, Receipt
from aotloop.core.phases.status_changes import begin
from aotloop.errors import IllegalEvent
from prove.phase_laws import Step, violations

AT = "2026-01-01T00:00:00Z"


class Setting(msgspec.Struct, frozen=True):
    max_iterations: int = 5
    max_phase_iterations: int = 1
    max_fix_cycles: int = 1
    skip_brainstorm: bool = True
    skip_test_review: bool = False
    enforce_budget: bool = False
    budget_limit_usd: float = 20


SETTINGS: tuple[Setting, ...] = (
    *(
        Setting(max_iterations=3, max_phase_iterations=most, max_fix_cycles=cycles, skip_test_review=skip)
        for most, cycles, skip in product((1, 2), (0, 1), (False, True))
    ),
    Setting(max_iterations=2, max_fix_cycles=2),
    Setting(max_iterations=10, max_fix_cycles=0, skip_brainstorm=False, skip_test_review=True),
    Setting(max_iterations=1, skip_brainstorm=False),
    Setting(max_iterations=2, max_fix_cycles=0, enforce_budget=True, budget_limit_usd=2),
)


class Action(msgspec.Struct, frozen=True):
    """`good`: what it claims is so. `tests_pass`: in truth. `by_person`: may prolong the loop; done once on a path."""

    name: str
    event: PhaseEvent
    good: bool = True
    tests_pass: bool = True
    by_person: bool = False


class Found(msgspec.Struct, frozen=True):
    setting: Setting
    trace: tuple[str, ...]
    broken: tuple[str, ...]


class Explored(msgspec.Struct):
    states: int = 0
    steps: int = 0
    found: list[Found] = []


class _Node(msgspec.Struct, frozen=True):
    loop: PhaseLoop
    proven: frozenset[Phase] = frozenset()
    """Phases of which a good receipt was filed while the loop was in them."""
    has_intervened: bool = False
    trace: tuple[str, ...] = ()


def explore(setting: Setting) -> Explored:
    """Breadth first: the first violation found is one of the shortest; with it the exploration ends."""
    blank = PhaseLoop(feature="x", phase="plan", started_at=AT, last_updated=AT, **msgspec.structs.asdict(setting))
    level = [_Node(begin(blank)[0])]
    seen = {_key(level[0])}
    result = Explored(found=[])
    while level and not result.found:
        level = [node for before in level for node in _following(before, setting, seen, result)]
    result.states = len(seen)
    return result


def _following(node: _Node, setting: Setting, seen: set[object], result: Explored) -> Iterator[_Node]:
    for action in actions(node.loop):
        if action.by_person and node.has_intervened:
            continue
        result.steps += 1
        trace = (*node.trace, action.name)
        try:
            after, effects = machine.advance(node.loop, action.event)
        except IllegalEvent as refused:
            if node.loop.status == "running" and isinstance(action.event, IterationEnded):
                result.found.append(Found(setting, trace, (f"it hangs: {refused}",)))
            continue
        proven = node.proven
        if isinstance(action.event, ReceiptFiled) and action.good:
            proven |= {node.loop.phase}
        step = Step(node.loop, action.event, after, effects, proven, good=action.good, tests_pass=action.tests_pass)
        if broken := tuple(violations(step, steps_left(node.loop), steps_left(after), by_person=action.by_person)):
            result.found.append(Found(setting, trace, broken))
            return
        if after.phase != node.loop.phase:
            proven -= {after.phase}  # what is entered again is proven again
        following = _Node(after, proven, node.has_intervened or action.by_person, trace)
        if _key(following) not in seen:
            seen.add(_key(following))
            yield following


def _key(node: _Node) -> object:
    """What was refused before decides nothing."""
    errors = tuple(error for error in node.loop.errors if not error.refused)
    return replace(node.loop, errors=errors), node.proven, node.has_intervened


# --- what can happen ---------------------------------------------------------------------------------------------

PROVEN = Facts(
    artifact_exists=True,
    artifact_has_content=True,
    commit_known=True,
    commit_is_newer=True,
    plan_names_files_and_steps=True,
    tests_pass=True,
    tests_untouched=True,
    open_findings=0,
    has_branch_or_pull_request=True,
)
RED = replace(PROVEN, tests_pass=False)


def actions(loop: PhaseLoop) -> Iterator[Action]:
    """Everything that can be tried, also what is impossible: then it has to be refused."""
    for tests_pass in (True, False):
        event = IterationEnded(at=AT, tests_pass=tests_pass)
        yield Action(f"an iteration ends, tests {'pass' if tests_pass else 'fail'}", event, tests_pass=tests_pass)
    yield from _receipts(loop)
    yield from _promises()
    yield Action("a person agrees to the tests", ApprovalGiven(at=AT, facts=RED))
    tampered = ApprovalGiven(at=AT, facts=replace(RED, tests_untouched=False))
    yield Action("a person agrees to other tests", tampered, good=False, by_person=True)
    yield Action("a person refuses the tests", ApprovalRefused(at=AT, reason="no"), by_person=True)
    for tests_pass in (True, False):
        forced = PhaseForced(at=AT, reason="enough of it", tests_pass=tests_pass)
        said = f"a person forces it, tests {'pass' if tests_pass else 'fail'}"
        yield Action(said, forced, tests_pass=tests_pass, by_person=True)
    if loop.enforce_budget and loop.spent_usd <= loop.budget_limit_usd:
        yield Action("a dollar is spent", MoneySpent(at=AT, of=f"{loop.spent_usd:g}", usd=1))
    yield Action("a person stops it", LoopStopped(at=AT, reason="user: enough"))
    yield Action("a person resumes it", LoopResumed(at=AT), by_person=True)
    yield Action("a person cancels it", LoopCancelled(at=AT, reason="user: no"))


def _receipts(loop: PhaseLoop) -> Iterator[Action]:
    phase = loop.phase
    right = RED if phase == "spec_test" else PROVEN
    wrong = PROVEN if phase == "spec_test" else RED
    yield _receipt(phase, "a good receipt", right)
    if phase in ("review", "re_review"):
        yield _receipt(phase, "a good receipt, with findings", replace(right, open_findings=2))
        yield _receipt(phase, "a receipt that counts nothing", replace(right, open_findings=None), good=False)
    if phase in ("spec_test", "work", "test", "ship"):
        yield _receipt(phase, "a receipt with tests the wrong way", wrong, good=False)
    if phase not in ("brainstorm", "plan", "spec_test"):
        yield _receipt(phase, "a receipt after tampering", replace(right, tests_untouched=False), good=False)
    yield _receipt(phase, "a receipt of nothing", replace(right, artifact_exists=False), good=False)
    yield _receipt(phase, "an old receipt", replace(right, commit_is_newer=False), good=False)
    other: Phase = "ship" if phase != "ship" else "plan"
    yield _receipt(other, "a receipt of another phase", right, good=False)


def _receipt(phase: Phase, name: str, facts: Facts, *, good: bool = True) -> Action:
    receipt = Receipt(phase=phase, artifact="a", git_sha="abcdef1", timestamp=AT)
    return Action(f"{name} ({phase})", ReceiptFiled(at=AT, receipt=receipt, facts=facts), good=good)


def _promises() -> Iterator[Action]:
    every = dict.fromkeys(PHASES, PROVEN)
    gone = {**every, "spec_test": replace(PROVEN, artifact_exists=False)}
    yield Action("the promise", PromiseMade(at=AT, text="SHIPPED", facts=every))
    yield Action("another promise", PromiseMade(at=AT, text="done", facts=every), good=False)
    yield Action("a stranger's promise", PromiseMade(at=AT, session_id="s", text="SHIPPED", facts=every), good=False)
    red = PromiseMade(at=AT, text="SHIPPED", facts=dict.fromkeys(PHASES, RED))
    yield Action("the promise, tests fail", red, tests_pass=False)
    yield Action("the promise, the tests are gone", PromiseMade(at=AT, text="SHIPPED", facts=gone), good=False)
