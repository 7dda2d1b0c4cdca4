"""A failure uses up an attempt, then an alternative; what was built on the left choice is undone and nothing else."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.effects import Added, Backtracked, Effect, Exhausted, Retry, WeighAlternatives
from aotloop.core.events import AlternativeSought, AtomFailed, AtomProbed, AtomResolved, AtomStarted, BranchSwitched
from aotloop.core.graph import Graph
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Binding, Constraints, Decomposition, Generation, Loop, OrGroup, TrailEntry
from aotloop.errors import IllegalEvent
from tests.core.generated import errors_of, thoroughly, valid_loops
from tests.core.refusing import refused
from tests.loops import a_loop, atom


def fail(loop: Loop, atom_id: str, reason: str = "it broke") -> list[Effect]:
    return advance(loop, AtomFailed(atom=atom_id, reason=reason, at="noon"))


def fail_for_good(loop: Loop, atom_id: str) -> list[Effect]:
    """As often as it is allowed; what the last failure led to."""
    for _ in range(loop.objective.constraints.max_attempts - 1):
        fail(loop, atom_id)
        advance(loop, AtomStarted(atom=atom_id))
    return fail(loop, atom_id)


def switch(loop: Loop, choice: str, group: str = "store") -> list[Effect]:
    return advance(loop, BranchSwitched(or_group=group, choice=choice, reason="too slow", at="noon"))


def statuses(loop: Loop) -> dict[str, str]:
    return {one.id: one.status for one in loop.atoms}


def choices(*, speculative: bool = False, attempts: int = 2, x: Any = "in_progress", y: Any = "pending") -> Loop:
    loop = a_loop(
        atom("X", or_group="store", status=x),
        atom("Y", or_group="store", status=y),
        constraints=Constraints(max_attempts=attempts),
    )
    loop.or_groups["store"] = replace(loop.or_groups["store"], speculative=speculative)
    return loop


# --- attempts ----------------------------------------------------------------------------------------------------


def test_a_failure_is_recorded_counted_and_leaves_no_result() -> None:
    half = {"A1": Binding(summary="half of it"), "A0": Binding(summary="did A0")}
    loop = a_loop(atom("A0", status="resolved"), atom("A1", "A0", status="in_progress"), bindings=half)
    assert fail(loop, "A1", "the tests are red") == [Retry(atom="A1", attempts=1, allowed=2)]
    assert loop == a_loop(
        atom("A0", status="resolved"),
        atom("A1", "A0", attempts=1),
        trail=[TrailEntry(reason="the tests are red", timestamp="noon", type="failure", atom="A1", attempt=1)],
    )


def test_after_a_first_failure_the_atom_can_start_again() -> None:
    loop = a_loop(atom("A1", status="in_progress"))
    fail(loop, "A1")
    assert Graph(loop).ready() == ["A1"]


def test_an_atom_without_alternatives_is_exhausted_when_its_attempts_are_spent() -> None:
    loop = a_loop(atom("A1"), constraints=Constraints(max_attempts=3))
    seen = []
    for _ in range(3):
        advance(loop, AtomStarted(atom="A1"))
        seen += fail(loop, "A1")
    assert Graph(loop).ready() == []
    with pytest.raises(IllegalEvent, match="A1 has failed 3 times; a correction can grant it a retry"):
        advance(loop, AtomStarted(atom="A1"))
    assert seen == [
        Retry(atom="A1", attempts=1, allowed=3),
        Retry(atom="A1", attempts=2, allowed=3),
        Exhausted(atom="A1"),
    ]
    assert [entry.attempt for entry in loop.trail] == [1, 2, 3]


def test_with_one_attempt_allowed_there_is_no_retry() -> None:
    loop = a_loop(atom("A1", status="in_progress"), constraints=Constraints(max_attempts=1))
    assert fail(loop, "A1") == [Exhausted(atom="A1")]


def test_the_failure_of_a_choice_names_its_group_in_the_trail() -> None:
    loop = choices()
    assert fail(loop, "X") == [Retry(atom="X", attempts=1, allowed=2)]
    assert (loop.trail[0].or_group, loop.trail[0].selected, loop.trail[0].type) == ("store", None, "failure")
    assert loop.or_groups["store"] == OrGroup(choices=("X", "Y"), selected="X")
    assert errors_of(loop) == []


# --- backtracking ------------------------------------------------------------------------------------------------


def test_a_choice_whose_attempts_are_spent_gives_way_to_the_next() -> None:
    loop = choices()
    assert fail_for_good(loop, "X") == [
        Backtracked(or_group="store", left="X", selected="Y", reset=("X",)),
    ]
    assert loop.or_groups["store"] == OrGroup(choices=("X", "Y"), selected="Y", failed=("X",))
    assert loop.atoms[0] == atom("X", or_group="store")
    assert Graph(loop).ready() == ["Y"]
    assert errors_of(loop) == []


def test_the_trail_of_a_backtrack_is_the_failure_and_then_the_selection() -> None:
    loop = choices(attempts=1)
    fail(loop, "X", "out of memory")
    assert loop.trail == [
        TrailEntry(or_group="store", reason="out of memory", timestamp="noon", type="failure", atom="X", attempt=1),
        TrailEntry(or_group="store", selected="Y", reason="X failed: out of memory", timestamp="noon"),
    ]


def test_choices_are_tried_in_their_order_and_failed_ones_and_those_not_yet_atoms_are_skipped() -> None:
    group = OrGroup(choices=("W", "ghost", "X", "Y", "Z"), selected="X", failed=("W",))
    loop = a_loop(
        atom("Z", or_group="g"),
        atom("Y", or_group="g"),
        atom("X", or_group="g", status="in_progress"),
        atom("W", or_group="g"),
        or_groups={"g": group},
        constraints=Constraints(max_attempts=1),
    )
    fail(loop, "X")
    assert (loop.or_groups["g"].selected, loop.or_groups["g"].failed) == ("Y", ("W", "X"))
    advance(loop, AtomStarted(atom="Y"))
    fail(loop, "Y")
    assert (loop.or_groups["g"].selected, loop.or_groups["g"].failed) == ("Z", ("W", "X", "Y"))


def test_an_exhausted_group_keeps_what_it_selected_and_lists_all_as_failed() -> None:
    loop = choices(attempts=1)
    fail(loop, "X")
    advance(loop, AtomStarted(atom="Y"))
    assert fail(loop, "Y") == [Exhausted(atom="Y")]
    assert loop.or_groups["store"] == OrGroup(choices=("X", "Y"), selected="Y", failed=("X", "Y"))
    assert Graph(loop).ready() == []
    assert errors_of(loop) == []


def test_a_group_whose_other_choice_is_not_an_atom_yet_is_exhausted_and_valid() -> None:
    group = OrGroup(choices=("X", "X_alt"), selected="X")
    loop = a_loop(
        atom("X", or_group="g", status="in_progress"), or_groups={"g": group}, constraints=Constraints(max_attempts=1)
    )
    assert fail(loop, "X") == [Exhausted(atom="X")]
    assert loop.or_groups["g"] == replace(group, failed=("X",))
    assert errors_of(loop) == []


# --- switching ---------------------------------------------------------------------------------------------------


def a_shop() -> Loop:
    """The store is disk or memory; api and page are built on it, the logo is not; disk was done in two parts."""
    return a_loop(
        atom("schema", status="resolved"),
        atom("disk", "schema", or_group="store", status="resolved"),
        atom("memory", "schema", or_group="store"),
        atom("files", "schema", status="resolved"),
        atom("index", "schema", status="resolved", attempts=1),
        atom("api", "disk", status="resolved"),
        atom("page", "api", status="in_progress", attempts=1),
        atom("logo", status="resolved", attempts=1),
        atom("banner", "logo", status="in_progress"),
        decompositions=[Decomposition(parent="disk", children=("files", "index"), reason="parts")],
        trail=[TrailEntry(or_group="store", selected="disk", reason="durable", timestamp="dawn")],
    )


def test_a_switch_undoes_the_left_choice_and_what_was_built_on_it_and_nothing_else() -> None:
    loop = a_shop()
    assert switch(loop, "memory") == [
        Backtracked(
            or_group="store",
            left="disk",
            selected="memory",
            reset=("disk", "files", "index", "api", "page"),
            undone=("api", "disk", "files", "index"),
        )
    ]
    assert loop.control.generation == Generation(got_smaller=True)
    loop.control = a_shop().control
    assert loop == a_loop(
        atom("schema", status="resolved"),
        atom("disk", "schema", or_group="store"),
        atom("memory", "schema", or_group="store"),
        atom("files", "schema"),
        atom("index", "schema"),
        atom("api", "disk"),
        atom("page", "api"),
        atom("logo", status="resolved", attempts=1),
        atom("banner", "logo", status="in_progress"),
        decompositions=a_shop().decompositions,
        or_groups={"store": OrGroup(choices=("disk", "memory"), selected="memory", failed=("disk",))},
        trail=[*a_shop().trail, TrailEntry(or_group="store", selected="memory", reason="too slow", timestamp="noon")],
    )
    assert set(loop.bindings) == {"schema", "logo"}


def test_after_a_switch_only_the_new_choice_is_ready() -> None:
    loop = a_shop()
    switch(loop, "memory")
    assert Graph(loop).ready() == ["memory"]


def test_entries_that_a_switch_does_not_concern_are_the_very_same() -> None:
    loop = a_shop()
    before = loop.snapshot()
    switch(loop, "memory")
    same = [new.id for old, new in zip(before.atoms, loop.atoms, strict=True) if old is new]
    assert {"schema", "memory", "logo", "banner"} <= set(same)
    assert loop.bindings["logo"] is before.bindings["logo"]
    assert loop.trail[0] is before.trail[0]


def test_a_parent_resolved_through_the_left_choice_is_open_again() -> None:
    loop = a_loop(
        atom("P", status="resolved"),
        atom("X", or_group="store", status="resolved"),
        atom("Y", or_group="store"),
        atom("C", status="resolved"),
        decompositions=[Decomposition(parent="P", children=("X", "C"), reason="parts")],
    )
    switch(loop, "Y")
    assert statuses(loop) == {"P": "pending", "X": "pending", "Y": "pending", "C": "resolved"}
    assert set(loop.bindings) == {"C"}
    advance(loop, AtomStarted(atom="Y"))
    advance(loop, AtomResolved(atom="Y", summary="done"))
    assert statuses(loop)["P"] == "resolved"


def test_what_was_built_on_a_part_of_the_left_choice_is_undone_too() -> None:
    loop = a_shop()
    loop.atoms.append(atom("report", "index", status="resolved"))
    loop.bindings["report"] = Binding(summary="did report")
    switch(loop, "memory")
    assert statuses(loop)["report"] == "pending"
    assert "report" not in loop.bindings


def test_what_depends_on_another_choice_of_the_group_is_undone_too() -> None:
    loop = choices(x="resolved")
    loop.atoms.append(atom("Q", "Y", status="resolved"))
    switch(loop, "Y")
    assert statuses(loop)["Q"] == "pending"


@pytest.mark.parametrize(
    ("group", "choice", "why"),
    [
        ("nowhere", "Y", "there is no group nowhere; there are: store"),
        ("store", "Q", "Q is no choice of store: X, Y, Z, ghost"),
        ("store", "ghost", "ghost is not an atom yet; add it first"),
        ("store", "X", "X is selected already"),
        ("store", "Z", "Z has failed; a correction can force it"),
    ],
)
def test_an_impossible_switch_is_refused(group: str, choice: str, why: str) -> None:
    loop = choices()
    loop.atoms += [atom("Z", or_group="store"), atom("Q")]
    loop.or_groups["store"] = OrGroup(choices=("X", "Y", "Z", "ghost"), selected="X", failed=("Z",))
    with refused(loop, why):
        switch(loop, choice, group)


def test_a_switch_without_any_group_says_that_there_is_none() -> None:
    loop = a_loop(atom("A1"))
    with refused(loop, "there is no group store; there are: none"):
        switch(loop, "A1")


def test_switching_through_all_choices_ends() -> None:
    loop = a_loop(*(atom(one, or_group="store") for one in ("A", "B", "C")))
    switch(loop, "B")
    switch(loop, "C")
    assert loop.or_groups["store"].failed == ("A", "B")
    for left in ("A", "B"):
        with refused(loop, f"{left} has failed"):
            switch(loop, left)


@thoroughly
@given(valid_loops(), st.data())
def test_after_any_switch_all_that_waits_for_the_group_is_undone_and_all_else_is_as_it_was(
    loop: Loop, data: st.DataObject
) -> None:
    assume(loop.or_groups)
    name = data.draw(st.sampled_from(list(loop.or_groups)))
    choice = data.draw(st.sampled_from(loop.or_groups[name].choices))
    before, left = loop.snapshot(), loop.or_groups[name].selected
    try:
        (effect,) = switch(loop, choice, name)
    except IllegalEvent:
        return
    undone = undone_by_leaving(before, left)
    assert isinstance(effect, Backtracked)
    assert set(effect.reset) <= undone
    for old, new in zip(before.atoms, loop.atoms, strict=True):
        assert new == (replace(old, status="pending", attempts=0) if old.id in undone else old)
    assert loop.bindings == {one: kept for one, kept in before.bindings.items() if one not in undone}
    assert {**loop.or_groups, name: None} == {**before.or_groups, name: None}
    assert loop.trail[:-1] == before.trail


def undone_by_leaving(loop: Loop, left: str) -> set[str]:
    """The left choice and its parts (parts that are choices stand for their groups), and whoever waits for one.

    Nobody has built on a choice that is not the selected one of its group.
    """
    group_of = {one: group.choices for group in loop.or_groups.values() for one in group.choices}
    children = {
        (split.parent, member)
        for split in loop.decompositions
        for child in split.children
        for member in group_of.get(child, (child,))
    }
    waits = children | {
        (one.id, member)
        for one in loop.atoms
        for needed in one.depends_on
        for member in group_of.get(needed, (needed,))
    }
    parts = {left}
    while more := {child for parent, child in children if parent in parts} - parts:
        parts |= more
    undone = set(parts)
    idle = {one for group in loop.or_groups.values() for one in group.choices if one != group.selected} - parts
    while more := {user for user, needed in waits if needed in undone - idle} - undone:
        undone |= more
    return undone


# --- races -------------------------------------------------------------------------------------------------------


def a_race() -> Loop:
    return choices(speculative=True, attempts=1, x="in_progress", y="in_progress")


def test_a_racer_that_fails_leaves_the_others_running() -> None:
    loop = a_race()
    assert fail(loop, "Y") == []
    assert statuses(loop) == {"X": "in_progress", "Y": "pending"}
    assert loop.or_groups["store"] == OrGroup(choices=("X", "Y"), selected="X", failed=("Y",), speculative=True)
    assert [entry.type for entry in loop.trail] == ["failure"]
    assert errors_of(loop) == []


def test_when_the_selected_racer_fails_another_is_selected_and_goes_on_running() -> None:
    loop = a_race()
    assert fail(loop, "X") == [Backtracked(or_group="store", left="X", selected="Y", reset=("X",))]
    assert statuses(loop) == {"X": "pending", "Y": "in_progress"}
    assert loop.or_groups["store"].selected == "Y"


@pytest.mark.parametrize("order", [("X", "Y"), ("Y", "X")])
def test_a_race_that_all_lose_is_exhausted(order: tuple[str, str]) -> None:
    loop = a_race()
    first, last = order
    fail(loop, first)
    assert fail(loop, last) == [Exhausted(atom=last)]
    assert set(loop.or_groups["store"].failed) == {"X", "Y"}
    assert loop.or_groups["store"].selected == last
    assert Graph(loop).ready() == []
    assert errors_of(loop) == []


def test_a_racer_that_may_try_again_is_ready_again() -> None:
    loop = choices(speculative=True, attempts=2, x="in_progress", y="in_progress")
    assert fail(loop, "Y") == [Retry(atom="Y", attempts=1, allowed=2)]
    assert Graph(loop).ready() == ["Y"]


def test_the_first_racer_to_be_resolved_settles_the_group() -> None:
    loop = a_race()
    loop.atoms.append(atom("Q", "X"))
    advance(loop, AtomResolved(atom="Y", summary="done"))
    assert loop.or_groups["store"].selected == "Y"
    assert loop.or_groups["store"].failed == ()
    assert Graph(loop).ready() == ["Q"]


@pytest.mark.parametrize(("winner", "loser"), [("X", "Y"), ("Y", "X")])
def test_who_lost_a_race_is_pending_again_without_a_result(winner: str, loser: str) -> None:
    loop = a_race()
    loop.bindings[loser] = Binding(summary="half of it")
    advance(loop, AtomResolved(atom=winner, summary="done"))
    assert statuses(loop) == {winner: "resolved", loser: "pending"}
    assert set(loop.bindings) == {winner}
    assert Graph(loop).ready() == []


def test_a_late_result_does_not_change_who_settled_the_group() -> None:
    loop = choices(speculative=True, x="resolved", y="in_progress")
    loop.atoms.append(atom("Q", "X", status="resolved"))
    with suppress(IllegalEvent):
        advance(loop, AtomResolved(atom="Y", summary="late"))
    assert loop.or_groups["store"].selected == "X"
    assert statuses(loop)["Q"] == "resolved"


# --- parents -----------------------------------------------------------------------------------------------------


def checked_parent(status: Any = "pending", child: Any = "resolved") -> Loop:
    split = Decomposition(parent="P", children=("C",), reason="parts")
    return a_loop(atom("P", status=status), atom("C", status=child), decompositions=[split])


def test_a_parent_whose_parts_are_done_can_fail_its_own_check() -> None:
    loop = checked_parent()
    (added,) = fail(loop, "P", "the parts do not fit")
    assert (loop.atoms[0].status, loop.atoms[0].attempts) == ("pending", 1)
    repair = loop.atoms[-1]
    assert added == Added(atoms=(repair.id,))
    assert (repair.repairs, repair.depends_on, "the parts do not fit" in repair.description) == ("P", (), True)
    assert Graph(loop).ready() == [repair.id]
    assert Graph(loop).waits_for("P") == [repair.id]


def test_a_parent_whose_parts_are_not_done_cannot_fail() -> None:
    loop = checked_parent(child="pending")
    with refused(loop, "P is pending; it allows: abandon, start"):
        fail(loop, "P")


def test_a_parent_that_is_resolved_cannot_fail() -> None:
    loop = checked_parent(status="resolved")
    with refused(loop, "P is resolved"):
        fail(loop, "P")


def test_a_choice_that_was_decomposed_and_fails_its_check_gives_way_with_its_parts() -> None:
    loop = a_loop(
        atom("X", or_group="store"),
        atom("Y", or_group="store"),
        atom("C", status="resolved"),
        decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
        constraints=Constraints(max_attempts=1),
    )
    switched = Backtracked(or_group="store", left="X", selected="Y", reset=("X", "C"), undone=("C",))
    assert fail(loop, "X") == [switched]
    assert statuses(loop) == {"X": "pending", "Y": "pending", "C": "pending"}
    assert loop.bindings == {}
    assert Graph(loop).ready() == ["Y"]


def test_a_decomposed_choice_that_failed_gives_way_before_a_later_group_that_only_needs_it() -> None:
    """Else it would stay selected although it has failed, which no file may say."""
    loop = a_loop(
        atom("part", status="resolved"),
        atom("disk", or_group="store", attempts=1),
        atom("memory", or_group="store"),
        atom("page", "disk", or_group="face"),
        atom("terminal", or_group="face"),
        decompositions=[Decomposition(parent="disk", children=("part",), reason="parts")],
        constraints=Constraints(max_attempts=1),
    )
    (effect,) = advance(loop, AlternativeSought(atom="disk", reason="its attempts are spent", at="noon"))
    assert isinstance(effect, Backtracked)
    assert (effect.or_group, effect.left, effect.selected) == ("store", "disk", "memory")
    assert errors_of(loop) == []


def test_a_part_of_two_decomposed_choices_makes_neither_stay_selected_and_failed() -> None:
    parts = [Decomposition(parent=one, children=("part",), reason="parts") for one in ("disk", "page")]
    loop = a_loop(
        atom("part"),
        atom("memory", or_group="store"),
        atom("disk", or_group="store", attempts=1),
        atom("page", or_group="face"),
        atom("terminal", or_group="face"),
        decompositions=parts,
        constraints=Constraints(max_attempts=1),
    )
    loop.or_groups["store"] = replace(loop.or_groups["store"], selected="disk")
    advance(loop, AlternativeSought(atom="disk", reason="its attempts are spent", at="noon"))
    assert loop.or_groups["store"].selected == "memory"
    assert errors_of(loop) == []


# --- who is asked, and who is not --------------------------------------------------------------------------------


def sought(loop: Loop, atom_id: str) -> list[Effect]:
    return advance(loop, AlternativeSought(atom=atom_id, reason="it is spent", at="noon"))


@pytest.mark.parametrize("atom_id", ["gone", "A1", "A2", "A3"])
def test_an_alternative_is_sought_only_for_an_atom_that_failed(atom_id: str) -> None:
    loop = a_loop(atom("A1"), atom("A2", attempts=1, status="in_progress"), atom("A3", attempts=1, status="resolved"))
    with refused(loop, f"{atom_id} is no atom that failed"):
        sought(loop, atom_id)


def test_an_alternative_is_sought_for_what_failed_once_and_for_what_was_given_up() -> None:
    for attempts, failed in ((1, ()), (0, ("X",))):
        loop = a_loop(atom("X", or_group="g", attempts=attempts), atom("Y", or_group="g"))
        loop.or_groups["g"] = replace(loop.or_groups["g"], failed=failed)
        (switched,) = sought(loop, "X")
        assert isinstance(switched, Backtracked)
        assert loop.or_groups["g"].selected == "Y"


def probed(loop: Loop, atom_id: str) -> list[Effect]:
    return advance(loop, AtomProbed(atom=atom_id, feasible=False, findings="no way", at="noon"))


def test_what_turns_out_to_be_impossible_before_anybody_works_on_it() -> None:
    loop = a_loop(atom("A1"), *(atom(one, or_group="g") for one in "XYZ"))
    assert probed(loop, "A1") == [Retry(atom="A1", attempts=1, allowed=2)]
    assert probed(loop, "Y") == []
    assert (loop.or_groups["g"].failed, loop.or_groups["g"].selected) == (("Y",), "X")
    (switched,) = probed(loop, "X")
    assert isinstance(switched, Backtracked)
    assert loop.or_groups["g"] == OrGroup(choices=("X", "Y", "Z"), selected="Z", failed=("Y", "X"))


def test_the_failure_of_what_is_not_required_any_more_leads_nowhere() -> None:
    loop = a_loop(
        atom("A", status="in_progress"), atom("X", "A", or_group="g"), atom("Y", or_group="g"),
        constraints=Constraints(max_attempts=1),
    )  # fmt: skip
    loop.or_groups["g"] = replace(loop.or_groups["g"], selected="Y")
    assert advance(loop, AtomFailed(atom="A", reason="it broke", at="noon")) == []
    assert loop.or_groups["g"].selected == "Y"


def failed_and_weighed(*others: Atom) -> list[Effect]:
    loop = a_loop(atom("W", or_group="g", status="in_progress"), *others, constraints=Constraints(max_attempts=1))
    return advance(loop, AtomFailed(atom="W", reason="it broke", at="noon", weigh=True))


def test_alternatives_are_weighed_if_there_are_two_and_somebody_has_to_look_at_one_of_them() -> None:
    new, known = atom("X", or_group="g"), atom("Y", or_group="g", findings="seen", estimate=3.0)
    assert failed_and_weighed(new, known) == [WeighAlternatives(atom="W", or_group="g", choices=("X",))]
    assert [type(one) for one in failed_and_weighed(new)] == [Backtracked]
    assert [type(one) for one in failed_and_weighed(known, replace(known, id="Z"))] == [Backtracked]


def test_what_a_probe_did_not_estimate_is_not_the_cheapest() -> None:
    (switched,) = failed_and_weighed(
        atom("X", or_group="g", findings="seen"), atom("Y", or_group="g", findings="seen", estimate=9.0)
    )
    assert isinstance(switched, Backtracked)
    assert switched.selected == "Y"


# --- races -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_up", "effects"),
    [
        ({"failed": ("X", "Z")}, [Exhausted(atom="Y")]),
        ({"blamed": {"X": ()}, "failed": ("Z",)}, [Exhausted(atom="Y")]),
        ({"failed": ("X",)}, []),
        ({"failed": ("Z",)}, []),
    ],
)
def test_a_race_is_over_when_the_last_racer_gives_up(given_up: dict[str, Any], effects: list[Effect]) -> None:
    group = OrGroup(choices=("X", "Y", "Z"), selected="X", speculative=True, **given_up)
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g", status="in_progress"), atom("Z", or_group="g"),
        or_groups={"g": group}, constraints=Constraints(max_attempts=1),
    )  # fmt: skip
    assert advance(loop, AtomFailed(atom="Y", reason="it broke", at="noon")) == effects
    assert loop.control.generation.got_smaller


# --- switching ---------------------------------------------------------------------------------------------------


def test_what_was_blamed_is_switched_to_only_by_a_correction() -> None:
    group = OrGroup(choices=("X", "Y"), selected="X", blamed={"Y": ()})
    loop = a_loop(atom("X", or_group="g"), atom("Y", or_group="g"), or_groups={"g": group})
    with refused(loop, "Y has failed; a correction can force it"):
        advance(loop, BranchSwitched(or_group="g", choice="Y", reason="why not", at="noon"))


def test_choices_that_are_only_named_are_in_nobodys_way_and_half_a_result_goes() -> None:
    inner = OrGroup(choices=("C", "later"), selected="C")
    loop = a_loop(
        atom("X", or_group="g"), atom("Y", or_group="g"), atom("C", or_group="h", status="resolved"), atom("Q", "X"),
        or_groups={"g": OrGroup(choices=("X", "Y"), selected="X"), "h": inner},
        decompositions=[Decomposition(parent="X", children=("C",), reason="parts")],
        bindings={"C": Binding(summary="did C"), "Q": Binding(summary="half")},
    )  # fmt: skip
    (switched,) = advance(loop, BranchSwitched(or_group="g", choice="Y", reason="too slow", at="noon"))
    assert isinstance(switched, Backtracked)
    assert (switched.reset, switched.undone, loop.bindings) == (("C", "Q"), ("C",), {})
