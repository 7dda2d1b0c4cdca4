"""One file of each kind the schema knows, written out; and each form a part of it may take."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from aotloop.core.events import LoopStarted
from aotloop.core.invariants import findings_of
from aotloop.core.limits import limits_of
from aotloop.core.machine import advance
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
    Generation,
    Loop,
    OrGroup,
    Prices,
    TrailEntry,
)
from aotloop.core.objective import digest_of
from aotloop.statefile.document import Document
from aotloop.statefile.reader import decode, examine, read_value, split
from aotloop.statefile.yaml import fast_reader
from tests.loops import as_file

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
    assert fast_reader.read(split(data).yaml, dict) == meant_as_json


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


# --- turns -------------------------------------------------------------------------------------------------------


def test_a_file_with_every_key_of_the_turns() -> None:
    loop = decode(golden("turns"))
    assert loop.objective.constraints == Constraints(
        effort="high", max_parallel_agents=2, max_total_attempts=40, max_stall_count=4
    )
    limits = limits_of(loop.objective.constraints)
    assert (limits.max_iterations, limits.max_stall_count, limits.max_attempts) == (60, 4, 3)
    control = loop.control
    assert (control.tried, control.won, control.needed, control.fewest_unresolved, control.shares) == (11, 2, 3, 2, 5)
    assert control.generation == Generation(outcomes=4, least=9)
    assert control.prices == Prices(
        attempts=10,
        attempts_usd=1.25,
        attempts_seconds=340.5,
        probes=2,
        probes_usd=0.125,
        probes_seconds=31.0,
        negative=1,
    )
    assert [(one.covers, one.attempts, one.failures, one.alike, one.partial) for one in loop.atoms] == [
        ((), 0, 0, 0, False),
        (("The scale answers",), 0, 3, 2, False),
        (("The scale answers",), 1, 2, 1, True),
        (("Labels are printed, one for each parcel",), 0, 0, 0, False),
    ]
    assert [one.reopened for one in loop.atoms] == [False, False, False, True]
    assert loop.or_groups["line"] == OrGroup(
        choices=("A2", "A3"), selected="A3", round=1, seen=("A3",), blames={"A2": 1}, hints={"A3": ("A4",)}
    )
    assert examine(golden("turns")).warnings == ()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_both_readers_read_the_same(path: Path) -> None:
    assert examine(path.read_bytes()).loop == fast_reader.read(split(path.read_bytes()).yaml, Loop) is not None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_written_anew_says_the_same(path: Path) -> None:
    loop = decode(path.read_bytes())
    assert decode(as_file(loop)) == loop


def changed_lines(data: bytes, change: Callable[[Loop], object]) -> list[str]:
    """What a change of the loop changes in its file, which then says so."""
    document = Document(data)
    loop = document.loop()
    change(loop)
    after = document.revise(loop)
    assert decode(after) == loop
    lines = difflib.unified_diff(data.decode().split("\n"), after.decode().split("\n"), n=0, lineterm="")
    return [f"{line[0]}{line[1:].strip()}" for line in lines if line[:3] not in ("---", "+++") and line[0] in "+-"]


def test_only_what_changed_is_rewritten_and_comments_stay() -> None:
    def change(loop: Loop) -> None:
        loop.atoms[2] = replace(loop.atoms[2], covers=("The scale answers", "x"), failures=3)
        loop.or_groups["line"] = replace(loop.or_groups["line"], blames={"A2": 2}, hints={})
        loop.control = replace(loop.control, tried=12, prices=replace(loop.control.prices, attempts=11))

    assert changed_lines(golden("turns"), change) == [
        "-tried: 11",
        "+tried: 12",
        "-attempts: 10",
        "+attempts: 11",
        '-covers: ["The scale answers"]   # as A2: another way to the same',
        '+covers: ["The scale answers", x]   # as A2: another way to the same',
        "-failures: 2",
        "+failures: 3",
        "-A2: 1",
        "-hints:",
        "-A3: [A4]",
        "+A2: 2",
    ]


def test_what_is_at_its_default_again_is_taken_out() -> None:
    def change(loop: Loop) -> None:
        fresh = dict.fromkeys(("attempts", "failures", "alike"), 0) | dict.fromkeys(("partial", "reopened"), False)
        loop.atoms = [replace(one, covers=(), **fresh) for one in loop.atoms]
        loop.or_groups["line"] = OrGroup(choices=("A2", "A3"), selected="A3")
        loop.control = replace(
            loop.control,
            tried=0, won=0, needed=0, fewest_unresolved=None, shares=None, prices=Prices(), generation=Generation(),
        )  # fmt: skip
        loop.objective = replace(loop.objective, constraints=Constraints())

    lines = changed_lines(golden("turns"), change)
    assert [line for line in lines if line.startswith("+")] == ["+max_parallel_agents: 3"]
    kept = yaml.safe_load(split(golden("turns")).yaml)
    gone = {line[1:].split(":")[0] for line in lines}
    assert gone >= {*set(kept["control"]) - set(yaml.safe_load(split(golden("v1.3-checklist")).yaml)["control"])}
    assert gone >= {
        "covers",
        "attempts",
        "failures",
        "alike",
        "partial",
        "reopened",
        "round",
        "seen",
        "blames",
        "hints",
        "effort",
    }


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("covers", "cover"),
        ("failures", "failiures"),
        ("effort", "efort"),
        ("max_total_attempts", "max_total_attemps"),
        ("fewest_unresolved", "fewest_unresolvd"),
        ("shares", "share"),
        ("hints", "hint"),
        ("prices", "price"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(right: str, wrong: str) -> None:
    data = golden("turns").replace(f"{right}: ".encode(), f"{wrong}: ".encode(), 1)
    data = data.replace(f"{right}:\n".encode(), f"{wrong}:\n".encode(), 1)
    told = [one.message for one in examine(data).warnings]
    assert f"unknown key, kept as it is; did you mean {right}?" in told


def test_an_item_that_is_not_in_the_base_case_is_an_error_at_its_line() -> None:
    data = golden("turns").replace(b'covers: ["The scale answers"]\n', b'covers: ["The scale answer"]\n')
    (error,) = examine(data).errors
    assert str(error) == (
        "line 55, column 13: atoms[1].covers: the base case has no item 'The scale answer'; did you mean The scale"
        " answers?"
    )


@pytest.mark.parametrize("name", ["max_iterations", "max_stall_count", "max_attempts", "max_total_attempts"])
def test_a_limit_that_is_null_is_not_set(name: str) -> None:
    read = read_value(f"max_parallel_agents: 3\n{name}: null\n".encode(), Constraints)
    assert read == Constraints()
    assert examine(golden("v1.3-initial").replace(b"max_iterations: 20", b"max_iterations: ~")).errors == ()


# --- of the version before ---------------------------------------------------------------------------------------


def test_a_file_of_the_version_before_is_read() -> None:
    loop = decode(golden("before-turns"))
    assert examine(golden("before-turns")).findings == ()
    assert loop.or_groups["line"] == OrGroup(
        choices=("A2", "A3", "A4"), selected="A4", failed=("A2",), blamed={"A3": ()}
    )
    assert (loop.control.tried, loop.control.shares, loop.control.generation.least) == (0, None, 0)
    assert loop.control.objective_digest == digest_of(loop.objective), "what was judged and agreed on is the same"
    assert limits_of(loop.objective.constraints).max_attempts == 2


def test_a_file_of_the_version_before_goes_on() -> None:
    """It starts; of what it said, nothing is lost and nothing else is touched."""
    lines = changed_lines(golden("before-turns"), lambda loop: advance(loop, LoopStarted()))
    assert lines == [
        "-status: stopped",
        "+status: running",
        '-stop_reason: "exhausted: every attempt and every alternative has failed for A5, A6"',
        "+stop_reason: null",
        "+fewest_unresolved: 2",
        "+shares: 6",
    ]


def test_a_group_that_was_given_up_for_good_begins_another_round() -> None:
    text = golden("before-turns").replace(b"failed: [A2]\n", b"failed: [A2, A4]\n")
    assert [one.message for one in examine(text).findings] == [
        "every choice has had its turn; the next start begins another round"
    ]
    loop = decode(text)
    advance(loop, LoopStarted())
    assert loop.or_groups["line"].round == 1
    assert loop.or_groups["line"].selected not in loop.or_groups["line"].failed
    assert findings_of(loop) == []
