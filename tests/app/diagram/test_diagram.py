"""What is to be seen, before it is drawn."""

from __future__ import annotations

from hypothesis import given

from aotloop.app.diagram.diagram import Card, Edge, picture_of
from aotloop.core.model import Loop, OrGroup
from tests.app.diagram.loops import any_loops, atom, loop_of, sign_in, split, unhurried


def looks(loop: Loop) -> dict[str, str]:
    return {card.id: card.look for card in picture_of(loop).cards}


def card(loop: Loop, card_id: str) -> Card:
    return next(one for one in picture_of(loop).cards if one.id == card_id)


def test_every_atom_is_a_card_in_file_order() -> None:
    assert [one.id for one in picture_of(sign_in()).cards] == ["A1", "A2", "A3", "A4", "A4_alt", "A5"]


def test_the_look_follows_from_status_graph_and_selection() -> None:
    assert looks(sign_in()) == {
        "A1": "resolved",
        "A2": "decomposed",
        "A3": "resolved",
        "A4": "in_progress",
        "A4_alt": "unselected",
        "A5": "waiting",
    }


def test_an_atom_whose_dependencies_are_met_looks_ready() -> None:
    assert looks(loop_of([atom("A1", status="resolved"), atom("A2", "A1")]))["A2"] == "ready"


def test_a_failed_choice_looks_failed() -> None:
    group = OrGroup(choices=("A1", "A2"), selected="A2", failed=("A1",))
    assert looks(loop_of([atom("A1"), atom("A2")], (), {"g": group})) == {"A1": "failed", "A2": "ready"}


def test_all_choices_of_a_speculative_group_look_ready() -> None:
    group = OrGroup(choices=("A1", "A2"), selected="A2", speculative=True)
    assert looks(loop_of([atom("A1"), atom("A2")], (), {"g": group})) == {"A1": "ready", "A2": "ready"}


def test_what_only_an_unselected_choice_needs_looks_unselected_too() -> None:
    group = OrGroup(choices=("A1", "A2"), selected="A1")
    loop = loop_of([atom("A1"), atom("A2", "A3"), atom("A3")], (), {"g": group})
    assert looks(loop)["A3"] == "unselected"


def test_atoms_on_a_cycle_look_waiting() -> None:
    assert looks(loop_of([atom("A1", "A2"), atom("A2", "A1")])) == {"A1": "waiting", "A2": "waiting"}


def test_edges_lead_from_dependency_to_dependent_and_from_parent_to_part() -> None:
    loop = loop_of([atom("A1"), atom("A2", "A1"), atom("A3")], [split("A2", "A3")])
    assert picture_of(loop).edges == (Edge("A1", "A2", "and"), Edge("A2", "A3", "decomposed"))


def test_a_choice_that_is_no_atom_yet_is_a_ghost() -> None:
    loop = loop_of([atom("A1")], (), {"g": OrGroup(choices=("A1", "A2"), selected="A1")})
    ghost = card(loop, "A2")
    assert (ghost.ghost, ghost.look, ghost.description) == (True, "unselected", "(not an atom yet)")


def test_an_unknown_dependency_is_a_ghost() -> None:
    ghost = card(loop_of([atom("A1", "nowhere")]), "nowhere")
    assert (ghost.ghost, ghost.look, ghost.description) == (True, "waiting", "(no such atom)")


def test_a_choice_of_two_groups_is_drawn_in_one() -> None:
    group = OrGroup(choices=("A1",), selected="A1")
    assert len(picture_of(loop_of([atom("A1")], (), {"g": group, "h": group})).groups) == 1


def test_unprintable_characters_are_spelt_out_in_ids_and_left_out_of_descriptions() -> None:
    shown = card(loop_of([atom("A\n1\x1b", description="two\n lines\x1b[31m")]), "A\n1\x1b")
    assert (shown.label, shown.description) == ("A\\n1\\x1b", "two lines")


@unhurried
@given(any_loops())
def test_every_end_of_an_edge_and_every_member_of_a_group_is_a_card(loop: Loop) -> None:
    picture = picture_of(loop)
    ids = [one.id for one in picture.cards]
    members = [member for group in picture.groups for member in group.members]
    assert len(ids) == len(set(ids))
    assert len(members) == len(set(members))
    assert {end for edge in picture.edges for end in (edge.source, edge.target)} | set(members) <= set(ids)
    assert {one.id for one in loop.atoms} <= set(ids)


@unhurried
@given(any_loops())
def test_all_texts_of_a_picture_are_printable(loop: Loop) -> None:
    picture = picture_of(loop)
    assert picture.title.isprintable()
    assert all(one.label.isprintable() and one.description.isprintable() for one in picture.cards)
    assert all(group.label.isprintable() for group in picture.groups)


@unhurried
@given(any_loops())
def test_the_same_loop_gives_the_same_picture(loop: Loop) -> None:
    assert picture_of(loop) == picture_of(loop.snapshot())
