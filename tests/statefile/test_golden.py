"""One file of each kind the schema knows, written out; and each form a part of it may take."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import yaml

from aotloop.core.model import (
    Atom,
    BaseCase,
    Binding,
    Check,
    ChecklistItem,
    Constraints,
    Control,
    Correction,
    Criterion,
    Decomposition,
    OrGroup,
    TrailEntry,
)
from aotloop.statefile import fast
from aotloop.statefile.document import Document
from aotloop.statefile.frontmatter import split
from aotloop.statefile.reading import decode, examine, read_value

GOLDEN = Path(__file__).parents[1] / "golden"
FILES = sorted(GOLDEN.glob("*.md"))


def golden(name: str) -> bytes:
    return (GOLDEN / f"{name}.md").read_bytes()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_golden_file_is_valid_and_stays_as_it_is(path: Path) -> None:
    data = path.read_bytes()
    assert examine(data).errors == ()
    document = Document(data)
    assert document.revise(document.loop()) == data
    meant = yaml.safe_load(split(data).yaml)
    meant_as_json = msgspec.json.decode(msgspec.json.encode(meant))  # whose keys are text: the levels of a rubric
    assert fast.read(split(data).yaml, dict) == meant_as_json


def test_a_complete_checklist_file() -> None:
    loop = decode(golden("v1.3-checklist"))
    assert loop.control == Control(
        status="running",
        iteration=5,
        stall_count=0,
        prev_pending_count=3,
        stop_requested=False,
        stop_reason=None,
        redirect_requested=False,
    )
    assert [(one.id, one.status, one.depends_on, one.or_group) for one in loop.atoms] == [
        ("A1", "resolved", (), None),
        ("A2", "pending", ("A1",), None),
        ("A3", "resolved", ("A1",), None),
        ("A4", "in_progress", ("A1",), "token_source"),
        ("A5", "pending", ("A3", "A4"), None),
    ]
    assert loop.decompositions == [
        Decomposition(parent="A2", children=("A3", "A4"), reason="Validation and charging can be done apart")
    ]
    assert loop.or_groups == {"token_source": OrGroup(choices=("A4", "A4_alt"), selected="A4", failed=())}
    assert loop.bindings["A3"] == Binding(summary="Luhn check and expiry", artifacts=("src/payments/validate.py",))
    assert loop.trail == [
        TrailEntry(
            or_group="token_source",
            selected="A4",
            reason="The provider keeps the card numbers",
            timestamp="2026-03-02T09:00:00Z",
        )
    ]
    assert loop.corrections == []
    checklist = loop.objective.base_case.checklist
    assert checklist is not None
    assert [(one.item, len(one.group or ())) for one in checklist] == [
        ("It works", 2),
        ("It is tidy", 2),
        ("It reads well", 0),
    ]
    assert checklist[2].check is not None
    assert checklist[2].check.rubric is not None
    assert checklist[2].check.rubric[1].levels == {
        1: "Everything in one place",
        3: "Parts are visible",
        5: "One part, one reason",
    }


def test_a_choice_that_is_not_an_atom_yet_is_only_a_warning() -> None:
    assert [one.message for one in examine(golden("v1.3-checklist")).warnings] == ["A4_alt is not an atom yet"]


def test_a_file_of_version_1_2_loads() -> None:
    loop = decode(golden("v1.2"))
    assert loop.objective.base_case == BaseCase(type="command", value="pytest tests/importer")
    assert loop.or_groups["dialect"].failed == ()
    assert loop.decompositions == []
    assert loop.corrections == [
        Correction(
            timestamp="2025-06-01T09:00:00Z",
            type="constraint_change",
            description="Two at once are enough",
            trail_cleared=False,
        )
    ]
    assert [one.message for one in examine(golden("v1.2")).warnings] == ["unknown key, kept as it is"]


def test_a_file_as_alignment_leaves_it() -> None:
    loop = decode(golden("v1.3-initial"))
    assert loop.objective.constraints == Constraints(max_iterations=20, max_parallel_agents=3, max_stall_count=3)
    assert (loop.control.status, loop.control.prev_pending_count) == ("pending", -1)
    assert loop.atoms == [Atom(id="A1", description="First step", status="pending", depends_on=())]


# --- forms -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["command", "file", "assertion"])
def test_the_old_form_of_a_base_case(kind: str) -> None:
    read = read_value(f"type: {kind}\nvalue: 'something to look at'\n".encode(), BaseCase)
    assert read == BaseCase(type=kind, value="something to look at")  # type: ignore[arg-type]


def test_single_checks_groups_and_choices() -> None:
    text = b"""\
checklist:
  - item: One
    check: {type: not_file, value: "dist/*.map"}
  - item: All
    group:
      - item: First
        check: {type: command, value: "true"}
      - item: Second
        check: {type: assertion, value: "It feels quick"}
  - item: Any
    any_of:
      - item: This
        check: {type: file, value: build/app}
      - item: That
        check: {type: file, value: "exists: build/app.exe"}
"""
    leaf = {name: ChecklistItem(item=name, check=check) for name, check in {
        "One": Check(type="not_file", value="dist/*.map"),
        "First": Check(type="command", value="true"),
        "Second": Check(type="assertion", value="It feels quick"),
        "This": Check(type="file", value="build/app"),
        "That": Check(type="file", value="exists: build/app.exe"),
    }.items()}  # fmt: skip
    assert read_value(text, BaseCase) == BaseCase(
        checklist=(
            leaf["One"],
            ChecklistItem(item="All", group=(leaf["First"], leaf["Second"])),
            ChecklistItem(item="Any", any_of=(leaf["This"], leaf["That"])),
        )
    )


def test_a_quality_check_with_a_rubric() -> None:
    text = b"""\
type: quality
rubric:
  - criterion: "Naming"
    description: "Names say what things are for"
    weight: 0.4
    levels: {1: "Riddles", 3: "Mostly fine", 5: "Clear"}
  - criterion: "Structure"
    description: "Parts have one reason each"
    weight: 0.4
    levels:
      1: "One big file"
      5: "Small parts"
pass_threshold: 3.5
scope: "src/**/*.py"
"""
    assert read_value(text, Check) == Check(
        type="quality",
        rubric=(
            Criterion(
                criterion="Naming",
                description="Names say what things are for",
                weight=0.4,
                levels={1: "Riddles", 3: "Mostly fine", 5: "Clear"},
            ),
            Criterion(
                criterion="Structure",
                description="Parts have one reason each",
                weight=0.4,
                levels={1: "One big file", 5: "Small parts"},
            ),
        ),
        pass_threshold=3.5,
        scope="src/**/*.py",
    )


def test_a_quality_check_with_plain_criteria() -> None:
    text = b'type: quality\ncriteria: "Short functions, clear names"\npass_threshold: 3\n'
    assert read_value(text, Check) == Check(type="quality", criteria="Short functions, clear names", pass_threshold=3.0)


def test_an_atom_with_its_group_written_as_null() -> None:
    text = b"- id: A1\n  description: x\n  status: resolved\n  depends_on: []\n  or_group: null\n"
    assert read_value(text, list[Atom]) == [Atom(id="A1", description="x", status="resolved", depends_on=())]
