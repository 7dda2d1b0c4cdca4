"""objective.yaml: read with places, refused where it is not understood, and written so that it reads back the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.app.align.draft import Draft, DraftAtom, DraftGroup, draft_of
from aotloop.app.align.draft_file import read_draft, write_draft
from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints, Loop
from aotloop.errors import AotError, StateFileInvalid
from tests.loops import loops

FLAT = """\
goal: Log in
background_intent: Customers ask for it
deliverables: An API
definition_of_done: Tests pass
base_case:
  checklist:
    - {item: tests, check: {type: command, value: make test}}
protect: ["tests/**"]
constraints: {max_iterations: 5}
atoms:
  - description: The model
  - {id: B, description: The view, depends_on: [A1], or_group: way, status: pending}
or_groups:
  way: {speculative: true, failed: []}
"""
EXPECTED = Draft(
    goal="Log in",
    background_intent="Customers ask for it",
    deliverables="An API",
    definition_of_done="Tests pass",
    base_case=BaseCase(checklist=(ChecklistItem(item="tests", check=Check(type="command", value="make test")),)),
    protect=("tests/**",),
    constraints=Constraints(max_iterations=5),
    atoms=(
        DraftAtom(description="The model"),
        DraftAtom(id="B", description="The view", depends_on=("A1",), or_group="way", status="pending"),
    ),
    or_groups={"way": DraftGroup(speculative=True)},
)


def test_it_has_the_keys_of_an_objective_and_the_graph() -> None:
    assert read_draft(FLAT.encode(), "o.yaml") == EXPECTED
    assert read_draft(b"\xef\xbb\xbf" + FLAT.replace("\n", "\r\n").encode(), "o.yaml") == EXPECTED


def test_the_objective_may_stand_below_a_key_of_its_own_as_in_a_state_file() -> None:
    head, graph = FLAT.split("atoms:")
    nested = "objective:\n" + "".join(f"  {line}\n" for line in head.splitlines()) + "atoms:" + graph
    assert read_draft(nested.encode(), "o.yaml") == EXPECTED


def test_json_is_read_too() -> None:
    text = '{"goal": "x", "base_case": {"type": "file", "value": "done"}, "atoms": [{"description": "do"}]}'
    found = read_draft(text.encode(), "o.json")
    assert (found.goal, found.base_case, len(found.atoms)) == ("x", BaseCase(type="file", value="done"), 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "o.yaml: the YAML is empty"),
        ("# only a comment\n", "the YAML is empty"),
        ("goal: [", "o.yaml: line 2, column 1: not readable as YAML"),
        ("just words", "expected a mapping, found 'just words'"),
        ("- a\n", "expected a mapping, found a list"),
        ("gaol: x", "line 1, column 7: gaol: unknown key; did you mean goal?"),
        ("goal: x\natoms:\n  - {id: A}", "line 3, column 5: atoms[0].description: is missing"),
        ("goal: {a: b}", "line 1, column 7: goal: expected text, found a mapping"),
        ("base_case: {type: shell, value: x}", "column 19: base_case.type: expected one of"),
        ("objective: {goal: x, atoms: []}", "objective.atoms: unknown key"),
        ("goal: a\ngoal: b", "this key occurs twice here"),
        ("a: &a [*a]", "o.yaml"),
        ("x" * 4_000_001, "longer than 4000000 bytes"),
        ("[" * 3000, "nested deeper"),
        ("constraints: {max_iterations: many}", "expected a whole number"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(text: str, told: str) -> None:
    with pytest.raises(StateFileInvalid) as caught:
        read_draft(text.encode(), "o.yaml")
    assert told in caught.value.message
    assert caught.value.exit_code == 3


def test_many_mistakes_are_counted() -> None:
    with pytest.raises(StateFileInvalid, match="and 3 more"):
        read_draft("".join(f"k{number}: 1\n" for number in range(8)).encode(), "o.yaml")


def test_what_is_written_reads_back_the_same() -> None:
    assert read_draft(write_draft(EXPECTED).encode(), "x") == EXPECTED
    empty = write_draft(Draft())
    assert 'goal: ""' in empty
    assert "checklist: []" in empty
    assert read_draft(empty.encode(), "x") == Draft(base_case=BaseCase(checklist=()))


@given(loops)
def test_the_draft_of_any_loop_reads_back_the_same(loop: Loop) -> None:
    draft = draft_of(loop)
    assert read_draft(write_draft(draft).encode(), "x") == draft


@given(st.one_of(st.binary(max_size=80), st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_are_a_draft_or_refused(data: bytes) -> None:
    try:
        found: object = read_draft(data, "x")
    except AotError as error:
        found = error.exit_code
    assert found == 3 or isinstance(found, Draft)
