"""The simulator drives a loop as a runner would, in virtual time; whatever its world makes up, it comes to an end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.effects import StartAttempt
from aotloop.core.measure import attempts_left
from aotloop.core.model import Atom, AtomCheck, BaseCase, Check, ChecklistItem, Constraints, Loop, OrGroup
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Run
from aotloop.simulator import AllGoesWell, AsGiven, ByChance, Chances, Simulated, Span, simulate
from tests.loops import a_loop, atom

FAILED = reports.WorkFailed(attempt=0, reason="it broke", at="")
MUST_WAIT = reports.MustWait(attempt=0, reason="rate limit", at="")
BLOCKED = reports.MergeBlocked(attempt=0, reason="an open editor", at="")
CHECK = AtomCheck(type="command", value="true")
TWO_ITEMS = BaseCase(
    checklist=tuple(ChecklistItem(item=one, check=Check(type="command", value=one)) for one in ("tests", "lint"))
)
MANY = 10**6


def order(simulated: Simulated) -> list[str]:
    return [span.atom for span in simulated.spans]


def most_at_once(spans: Iterable[Span]) -> int:
    """At any time; who ends at that very time has left, and what takes no time is nowhere."""
    moments = sorted([(span.end, -1) for span in spans] + [(span.begin, 1) for span in spans])
    most = now = 0
    for _, change in moments:
        now += change
        most = max(most, now)
    return most


# --- time --------------------------------------------------------------------------------------------------------


def test_an_attempt_takes_the_minutes_given_or_else_estimated_or_else_the_default() -> None:
    loop = a_loop(atom("A1", estimate=5.0), atom("A2", "A1", estimate=7.0), atom("A3", "A2"))
    spans = simulate(loop, AllGoesWell({"A2": 2.5}, default_minutes=3.0)).spans
    assert [(span.atom, span.begin, span.end) for span in spans] == [("A1", 0, 5), ("A2", 5, 7.5), ("A3", 7.5, 10.5)]


def test_a_loop_in_which_all_goes_well_is_completed_and_changed_as_by_a_real_run() -> None:
    loop = a_loop(atom("A1", estimate=4.0), atom("A2"), status="pending")
    simulated = simulate(loop, AllGoesWell(), at="2026-01-01T00:00:00Z")
    assert (simulated.status, simulated.reason, simulated.minutes) == ("completed", None, 4.0)
    assert loop.control.status == "completed"
    assert [one.status for one in loop.atoms] == ["resolved", "resolved"]
    assert simulated.verifications == 2  # before any work, and after it


def test_where_all_is_resolved_already_nothing_is_attempted() -> None:
    simulated = simulate(a_loop(atom("A1", status="resolved"), status="stopped"), AllGoesWell())
    assert (simulated.status, simulated.spans, simulated.width) == ("completed", (), 0)


def test_time_that_runs_out_ends_the_run() -> None:
    loop = a_loop(
        atom("A1", estimate=40.0), atom("A2", "A1", estimate=40.0), constraints=Constraints(max_runtime="30m")
    )
    simulated = simulate(loop, AllGoesWell())
    assert simulated.reason == "limit: its runtime of 30m is used up"
    assert order(simulated) == ["A1"]
    assert loop.control.ran_seconds == 40 * 60


# --- slots -------------------------------------------------------------------------------------------------------


def test_beside_is_the_most_that_were_under_way_at_once_while_an_attempt_was() -> None:
    loop = a_loop(atom("A1", estimate=10.0), atom("A2", estimate=2.0), atom("A3", "A2", estimate=2.0), atom("A4", "A1"))
    simulated = simulate(loop, AllGoesWell())
    assert {span.atom: span.beside for span in simulated.spans} == {"A1": 2, "A2": 2, "A3": 2, "A4": 1}
    assert simulated.width == 2


def test_those_who_make_room_at_the_same_time_are_not_counted_beside_their_successors() -> None:
    loop = a_loop(atom("A1"), atom("A2"), atom("A3", "A1"), atom("A4", "A2"))
    assert {span.atom: span.beside for span in simulate(loop, AllGoesWell()).spans} == dict.fromkeys(
        ["A1", "A2", "A3", "A4"], 2
    )


def test_a_slot_that_is_free_is_used_again() -> None:
    atoms = [atom("A1", estimate=10.0), atom("A2", estimate=2.0), atom("A3", estimate=1.0)]
    spans = simulate(a_loop(*atoms), AllGoesWell(), slots=2).spans
    assert [(span.atom, span.slot, span.begin) for span in spans] == [("A1", 1, 0), ("A2", 2, 0), ("A3", 2, 2)]


@pytest.mark.parametrize(("slots", "minutes"), [(1, 6), (2, 3), (3, 2), (None, 2), (6, 1)])
def test_there_are_as_many_slots_as_said_or_else_as_many_as_the_loop_allows(slots: int | None, minutes: float) -> None:
    loop = a_loop(*(atom(f"A{number}") for number in range(6)), constraints=Constraints(max_parallel_agents=3))
    assert simulate(loop, AllGoesWell(), slots=slots).minutes == minutes


# --- outcomes ----------------------------------------------------------------------------------------------------


def test_given_outcomes_come_in_turn_and_then_all_goes_well() -> None:
    loop = a_loop(atom("A1"), constraints=Constraints(max_attempts=3))
    simulated = simulate(loop, AsGiven(attempts={"A1": [FAILED, FAILED]}))
    assert order(simulated) == ["A1", "A1", "A1"]
    assert simulated.status == "completed"
    assert [entry.reason for entry in loop.trail] == ["it broke", "it broke"]


def test_given_merges_and_verdicts_come_in_turn_too() -> None:
    refused = reports.MergeRefused(attempt=0, reason="it does not fit", at="")
    loop = a_loop(atom("A1"))
    simulated = simulate(loop, AsGiven(merges={"A1": [refused]}, verdicts=[{"tests": "red"}, {"tests": "still red"}]))
    assert order(simulated) == ["A1", "A1", "A2"]  # the last one repairs
    assert loop.atoms[-1].repairs == "tests"
    assert simulated.status == "completed"


def test_a_cancelled_attempt_ends_when_it_is_cancelled_and_its_slot_is_free() -> None:
    atoms = [atom("A1", or_group="way"), atom("A2", or_group="way"), atom("A3", "A1")]
    race = {"way": OrGroup(choices=("A1", "A2"), selected="A1", speculative=True)}
    simulated = simulate(a_loop(*atoms, or_groups=race), AllGoesWell({"A1": 9.0, "A2": 3.0}))
    assert [(span.atom, span.end, span.is_cancelled) for span in simulated.spans] == [
        ("A1", 3, True),
        ("A2", 3, False),
        ("A3", 4, False),
    ]
    assert simulated.minutes == 4  # what the loser would have reported at 9 is not waited for


def test_attempts_that_are_under_way_when_the_base_case_holds_are_cancelled() -> None:
    class HoldsEarly(AsGiven):
        def base_case(self, run: Run) -> dict[str, str]:
            return {} if run.merges else {"tests": "red"}

    limits = Constraints(verify_each_iteration=True, max_total_attempts=999)
    loop = a_loop(atom("A1"), atom("A2", estimate=50.0), atom("A3", "A1"), constraints=limits)
    minutes = {"A1": 0.0625, "A2": 2.0, "A3": 9.0}
    simulated = simulate(loop, HoldsEarly(minutes, attempts={"A1": [FAILED] * 20}))
    assert simulated.status == "completed"
    assert [(span.atom, span.end, span.is_cancelled) for span in simulated.spans][-1] == ("A3", 2, True)


def test_who_must_wait_starts_again_when_the_wait_is_over() -> None:
    class Slow(AsGiven):
        def wait(self, run: Run, obstacle: object) -> float | None:  # noqa: ARG002
            return 30.0

    simulated = simulate(a_loop(atom("A1"), atom("A2")), Slow({"A1": 2.0}, attempts={"A1": [MUST_WAIT]}))
    assert [(span.atom, span.begin, span.end) for span in simulated.spans] == [
        ("A1", 0, 2),
        ("A2", 0, 1),
        ("A1", 32, 34),
    ]


def test_what_is_in_the_way_of_a_merge_takes_no_slot_and_the_merge_follows_when_it_is_gone() -> None:
    loop = a_loop(atom("A1", estimate=9.0), atom("A2", estimate=5.0), atom("A3", "A1"))
    simulated = simulate(loop, AsGiven({"A1": 1.0}, merges={"A1": [BLOCKED]}), slots=1)
    assert [(span.atom, span.begin) for span in simulated.spans] == [("A1", 0), ("A2", 1), ("A3", 6)]
    assert (simulated.status, simulated.minutes) == ("completed", 7.0)


def test_what_is_in_the_way_for_ever_blocks_a_merge_and_a_wait_without_end_hangs() -> None:
    class ForEver(AsGiven):
        def wait(self, run: Run, obstacle: object) -> float | None:  # noqa: ARG002
            return None

    blocked = simulate(a_loop(atom("A1")), ForEver(merges={"A1": [BLOCKED]}))
    assert (blocked.status, blocked.reason) == ("stopped", "blocked: an open editor")
    hanging = simulate(a_loop(atom("A1")), ForEver(attempts={"A1": [MUST_WAIT]}))
    assert (hanging.status, hanging.reason) == ("running", "nothing more can happen")


def test_chance_depends_on_nothing_but_its_seed() -> None:
    def once(seed: int) -> Simulated:
        atoms = [atom(f"A{number}", *([f"A{number - 2}"] if number > 2 else [])) for number in range(1, 9)]
        return simulate(a_loop(*atoms), ByChance(Random(seed)))

    assert once(1) == once(1)
    assert len({once(seed).minutes for seed in range(20)}) == 20


# --- whatever happens --------------------------------------------------------------------------------------------


class Counting(ByChance):
    """Knows which attempts did not count: crashes of the world, not of the work."""

    uncounted = 0

    def attempt(self, run: Run, start: StartAttempt) -> tuple[float, reports.OfAttempt]:
        minutes, report = super().attempt(run, start)
        self.uncounted += isinstance(report, reports.MustWait)
        return minutes, report

    def merge(self, run: Run, merged: reports.Merged) -> reports.OfAttempt:
        report = super().merge(run, merged)
        self.uncounted += isinstance(report, reports.MergeConflicted)
        return report


@st.composite
def layered_loops(draw: st.DrawFn) -> Loop:
    """Every unit, an atom or a group, needs some of the layer before."""
    atoms: list[Atom] = []
    groups: dict[str, OrGroup] = {}
    before: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        layer: list[str] = []
        for _ in range(draw(st.integers(1, 3))):
            ids = [f"A{len(atoms) + number}" for number in range(1, draw(st.sampled_from([1, 1, 1, 2, 3])) + 1)]
            name = f"g{len(groups)}" if len(ids) > 1 else None
            if name is not None:
                groups[name] = OrGroup(choices=tuple(ids), selected=ids[0], speculative=draw(st.booleans()))
            needs = draw(st.lists(st.sampled_from(before), max_size=3, unique=True)) if before else []
            atoms += [_drawn_atom(draw, one, needs, name) for one in ids]
            layer.append(draw(st.sampled_from(ids)))
        before = layer
    limits = Constraints(
        max_parallel_agents=draw(st.integers(1, 4)),
        max_attempts=draw(st.integers(1, 3)),
        max_depth=draw(st.integers(0, 2)),
        max_children=3,
        max_iterations=draw(st.sampled_from([5, MANY])),
        max_stall_count=draw(st.sampled_from([1, 3, MANY])),
        max_runtime=draw(st.sampled_from([None, None, "30m"])),
        verify_each_iteration=draw(st.booleans()),
    )
    return a_loop(*atoms, or_groups=groups, constraints=limits, base_case=TWO_ITEMS, status="pending")


def _drawn_atom(draw: st.DrawFn, atom_id: str, needs: list[str], group: str | None) -> Atom:
    return atom(
        atom_id,
        *needs,
        or_group=group,
        estimate=draw(st.sampled_from([None, 0.0, 2.0, 30.0])),
        probe=draw(st.sampled_from([False, False, True])),
        run=draw(st.sampled_from([None, None, None, "make"])),
        check=draw(st.sampled_from([None, CHECK])),
        touches=draw(st.sampled_from([(), (), ("src",), ("docs",)])),
    )


chances = st.sampled_from(
    [
        Chances(),
        Chances(fails=0.5, infeasible=0.6, base_case_fails=0.7, parent_fails=0.6),
        Chances(waits=0.3, conflicts=0.4, blocked=0.3, refused=0.2),
        Chances(grows=0.6, fails=0.3),
        Chances(fails=0, grows=0, waits=0, refused=0, conflicts=0, blocked=0, base_case_fails=0),
    ]
)
chance = st.integers(0, 2**32).map(Random)


@given(layered_loops(), chances, chance, st.sampled_from([None, 1, 2, 3]))
def test_a_simulation_ends_and_there_are_never_more_attempts_at_once_than_slots(
    loop: Loop, mishaps: Chances, random: Random, slots: int | None
) -> None:
    allowed = slots or loop.objective.constraints.max_parallel_agents
    simulated = simulate(loop, ByChance(random, mishaps), slots=slots)
    assert simulated.status in ("completed", "stopped")
    assert loop.control.status == simulated.status
    assert simulated.width <= allowed
    assert most_at_once(span for span in simulated.spans if span.end > span.begin) <= simulated.width
    by_slot: dict[int, list[Span]] = {}
    for span in simulated.spans:
        assert 1 <= span.slot <= allowed
        by_slot.setdefault(span.slot, []).append(span)
    for spans in by_slot.values():
        assert most_at_once(span for span in spans if span.end > span.begin) <= 1


@given(layered_loops(), chances, chance)
def test_an_attempt_begins_after_something_of_every_unit_it_depends_on_has_ended(
    loop: Loop, mishaps: Chances, random: Random
) -> None:
    before = loop.snapshot()
    unit = {choice: group.choices for group in before.or_groups.values() for choice in group.choices}
    needs: Mapping[str, list[tuple[str, ...]]] = {
        one.id: [unit.get(needed, (needed,)) for needed in one.depends_on] for one in before.atoms
    }
    spans = simulate(loop, ByChance(random, replace(mishaps, grows=0.0))).spans
    ended = {name: [span.end for span in spans if span.atom == name and not span.is_cancelled] for name in needs}
    for span in spans:
        if span.role == "worker":
            for members in needs.get(span.atom, ()):
                assert any(end <= span.begin for member in members for end in ended[member]), span


@given(layered_loops(), chances, chance)
def test_no_more_attempts_are_made_than_the_measure_allows_at_the_start(
    loop: Loop, mishaps: Chances, random: Random
) -> None:
    world = Counting(random, mishaps)
    most = attempts_left(loop)
    simulated = simulate(loop, world)
    made = sum(not span.is_cancelled for span in simulated.spans)
    assert made - world.uncounted <= most
    assert loop.control.tried <= most


@given(layered_loops(), chance, st.integers(1, 9))
def test_a_limit_of_all_attempts_is_kept_whatever_happens(loop: Loop, random: Random, most: int) -> None:
    constraints = replace(loop.objective.constraints, max_total_attempts=most)
    loop.objective = replace(loop.objective, constraints=constraints)
    simulate(loop, ByChance(random, Chances(fails=0.6, grows=0.3, base_case_fails=0.5)))
    assert loop.control.tried <= most
