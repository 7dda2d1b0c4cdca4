"""The laws of the model checker, for larger graphs: whatever comes of every attempt, in whatever order."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule
from prove.ghost import Ghost, beginning, watch
from prove.laws import violations
from prove.shapes import Setting, Shape, constraints_of, in_force, loop_of
from prove.step import Step, state_before
from prove.world import AT, Action, NotedRun, actions, fork

from aotloop.core.graph.work_graph import Graph
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.decisions import conduct


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    size = draw(st.integers(4, 9))
    pairs = [(one, other) for other in range(size) for one in range(other)]
    edges = draw(st.frozensets(st.sampled_from(pairs), max_size=2 * size))
    groups: list[tuple[int, ...]] = []
    free = list(range(size))
    for _ in range(draw(st.integers(0, 3))):
        group = draw(st.lists(st.sampled_from(free), min_size=2, max_size=3, unique=True)) if len(free) > 1 else []
        free = [one for one in free if one not in group]
        groups += [tuple(sorted(group))] if group else []
    parts = None
    if draw(st.booleans()):
        parent = draw(st.integers(0, size - 1))
        others = [one for one in range(size) if one != parent]
        parts = parent, tuple(draw(st.lists(st.sampled_from(others), min_size=1, max_size=3, unique=True)))
    return Shape(size, edges, tuple(groups), parts)


kinds = st.builds(
    Setting,
    slots=st.integers(1, 4),
    max_attempts=st.integers(1, 3),
    max_total=st.integers(3, 40),
    patience=st.integers(1, 6),
    sweeps=st.integers(1, 3),
    hopeless=st.sampled_from((2, 99)),
    is_experienced=st.booleans(),
    max_stall=st.integers(1, 5),
    max_iterations=st.integers(2, 30),
    max_depth=st.integers(0, 2),
    items=st.integers(1, 2),
    **{
        name: st.booleans()
        for name in (
            *(
                "speculative",
                "verify_each_iteration",
                "probe",
                "command",
                "commands",
                "checked",
                "proposals",
                "garbage",
            ),
            *("probes_pay", "asks", "progress", "hints", "covers"),
        )
    },
    people=st.booleans(),
    touching=st.booleans(),
    hindrances=st.booleans(),
)


class AnyRun(RuleBasedStateMachine):
    run: NotedRun
    ghost = Ghost()
    may_redirect = True
    is_begun = False

    @initialize(shape=shapes(), setting=kinds)
    def begin(self, shape: Shape, setting: Setting) -> None:
        loop = loop_of(shape, constraints_of(setting), setting)
        if Graph(loop).find_cycle() is not None:
            return
        self.setting, self.run, self.is_begun = setting, NotedRun(loop), True
        self.ghost = beginning(loop)
        self.happen(Action("the loop begins", reports.Began(at=AT)))

    @rule(data=st.data())
    def report(self, data: st.DataObject) -> None:
        if not self.is_begun or self.run.finished:
            return
        possible = list(actions(self.run, self.setting, may_redirect=self.may_redirect))
        assert possible, "nothing can happen, and it has not ended"
        quiet = [one for one in possible if not one.name.startswith("a person")] or possible
        self.happen(data.draw(st.sampled_from(quiet * 4 + possible)))

    def happen(self, action: Action) -> None:
        self.run = fork(self.run)
        landed = self.ghost.landed
        with in_force(self.setting):
            before = state_before(self.run)
            if isinstance(action.report, reports.OfAttempt):
                attempt = self.run.find(action.report.attempt)
                self.run.last_began = attempt.merges if attempt is not None else -1
            effects = conduct(self.run, action.report)
            self.ghost = watch(self.ghost, self.run, before.loop, action, effects)
            self.may_redirect = self.may_redirect and action.name != "a person redirects it"
            assert violations(Step(before, action, effects, self.run, self.ghost, self.setting, landed)) == []


TestAnyRun = AnyRun.TestCase
TestAnyRun.settings = settings(stateful_step_count=60, deadline=None)
