"""`aot redirect` with flags: each kind of correction, several at once, and nothing at all if one of them is refused."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest
from msgspec.structs import replace

from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_left
from aotloop.core.model import Binding, Constraints, Loop, OrGroup, TrailEntry
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store
from aotloop.trust.objectives import agree, agreed
from tests.cli.terminal import aot, on_terminal, spawn
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop

FAILURE = TrailEntry(reason="no luck", timestamp="2026-01-01T00:00:00Z", type="failure", atom="A2", attempt=1)


def loop_in(path: Path) -> Loop:
    return Store(str(path)).load()


@pytest.fixture
def path(project: Path) -> Path:
    choices = (atom("B1", or_group="way"), atom("B2", or_group="way"))
    loop = a_loop(
        atom("A1", status="resolved"),
        atom("A2", "A1", status="in_progress", attempts=1),
        *choices,
        trail=[FAILURE],
        or_groups={"way": OrGroup(choices=("B1", "B2"), selected="B2", failed=("B1",))},
    )
    loop.control = replace(loop.control, stall_count=2)
    return write_loop(project, loop)


def last_type(path: Path) -> str:
    return loop_in(path).corrections[-1].type


# --- alignment ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["goal", "background-intent", "deliverables", "definition-of-done"])
def test_each_part_of_the_alignment_can_be_changed(path: Path, name: str) -> None:
    ran = aot("redirect", f"--{name}", "something else")
    assert ran.code == 0
    assert ran.out == f"✔ {name.replace('-', '_')} is now: something else\n"
    loop = loop_in(path)
    assert getattr(loop.objective, name.replace("-", "_")) == "something else"
    (correction,) = loop.corrections
    assert (correction.type, correction.trail_cleared) == ("objective_change", True)
    assert correction.description == f"{name.replace('-', '_')} is now: something else"
    assert loop.trail == []
    assert loop.bindings == {"A1": Binding(summary="did A1")}


def test_commands_become_a_checklist(path: Path) -> None:
    assert aot("redirect", "--command", "make test", "--command", "make lint").code == 0
    checklist = loop_in(path).objective.base_case.checklist
    assert checklist is not None
    assert [item.check.value for item in checklist if item.check is not None] == ["make test", "make lint"]


BASE_CASE = """\
checklist:
  - item: tests
    check: {type: command, value: make test}
  - item: nice
    check: {type: assertion, value: it is nice}
"""


@pytest.mark.parametrize("text", [BASE_CASE, "base_case:\n" + indent(BASE_CASE, "  "), "\ufeff" + BASE_CASE])
def test_a_base_case_comes_from_a_file(path: Path, project: Path, text: str) -> None:
    (project / "new.yaml").write_text(text, encoding="utf-8")
    assert aot("redirect", "--base-case", "new.yaml").code == 0
    checklist = loop_in(path).objective.base_case.checklist
    assert checklist is not None
    assert [item.item for item in checklist] == ["tests", "nice"]


def test_a_base_case_comes_from_standard_input(path: Path) -> None:
    ran = spawn("redirect", "--base-case", "-", input=b"{type: file, value: done.txt}", stdin=None)
    assert (ran.code, ran.err.count("\n")) == (0, 1)
    assert loop_in(path).objective.base_case.value == "done.txt"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("checklist: []", "base_case.checklist: is empty"),
        ("checklist: [", "new.yaml: line 2"),
        ("", "the YAML is empty"),
        ("type: comand\nvalue: x", "line 1, column 7: type: expected one of"),
        ("type: command\nvalu: x", "line 2, column 7: valu: unknown key; did you mean value?"),
        ("&a [*a]", "new.yaml"),
        ("\x00", "new.yaml"),
    ],
)
def test_a_base_case_that_makes_no_sense_changes_nothing(path: Path, project: Path, text: str, told: str) -> None:
    (project / "new.yaml").write_text(text, encoding="utf-8")
    before = path.read_bytes()
    ran = aot("redirect", "--base-case", "new.yaml")
    assert ran.code == 1
    assert told in ran.err
    assert "bug" not in ran.err
    assert path.read_bytes() == before


def test_files_are_protected_and_freed_again(path: Path) -> None:
    assert aot("redirect", "--protect", "tests/**", "--protect", "docs/*").code == 0
    assert loop_in(path).objective.protect == ("tests/**", "docs/*")
    assert aot("redirect", "--unprotect", "tests/**", "--protect", "src/*").code == 0
    assert loop_in(path).objective.protect == ("docs/*", "src/*")
    ran = aot("redirect", "--unprotect", "tests/**")
    assert ran.code == 1
    assert "tests/** is not protected\n     Protected: docs/*, src/*." in ran.err


def test_what_is_so_already_resets_nothing(path: Path) -> None:
    before = path.read_bytes()
    for words in (["--goal", "It works"], ["--set", "max_parallel_agents=3"], ["--set", "effort=normal"]):
        ran = aot("redirect", *words)
        assert ran.code == 1
        assert "already like this; nothing was changed" in ran.err
    assert path.read_bytes() == before


# --- constraints -------------------------------------------------------------------------------------------------


def test_limits_are_set_and_unset(path: Path) -> None:
    words = ["max_iterations=40", "max_cost_usd=2.5", "max_runtime=1h30m", "verify_each_iteration=true"]
    ran = aot("redirect", *(word for one in words for word in ("--set", one)))
    assert ran.out == (
        "✔ max_iterations 20 (by effort) → 40, max_cost_usd none → 2.5, max_runtime none → 1h30m,"
        " verify_each_iteration false → true\n"
    )
    limits = loop_in(path).objective.constraints
    assert limits == Constraints(max_iterations=40, max_cost_usd=2.5, max_runtime="1h30m", verify_each_iteration=True)
    assert last_type(path) == "constraint_change"
    assert loop_in(path).trail == [FAILURE]
    assert aot("redirect", "--set", "max_cost_usd=none", "--set", "max_runtime=90").code == 0
    assert loop_in(path).objective.constraints.max_cost_usd is None
    assert loop_in(path).objective.constraints.max_runtime == 90


def test_effort_is_one_setting_and_what_is_set_beside_it_stays(path: Path) -> None:
    ran = aot("redirect", "--set", "max_stall_count=4", "--set", "effort=high")
    assert ran.out == "✔ max_stall_count 3 (by effort) → 4, effort normal → high\n"
    limits = limits_of(loop_in(path).objective.constraints)
    assert (limits.max_iterations, limits.max_stall_count, limits.attempts_per_atom) == (60, 4, 30)
    ran = aot("redirect", "--set", "max_stall_count=none")
    assert ran.out == "✔ max_stall_count 4 → 5 (by effort)\n"


@pytest.mark.parametrize(
    ("word", "code", "told"),
    [
        ("max_iteration=3", 2, "Did you mean max_iterations?"),
        ("speed=3", 2, "There are: effort, max_iterations"),
        ("max_iterations", 2, "needs a value"),
        ("max_iterations=", 2, "needs a value"),
        ("max_parallel_agents=none", 2, "cannot be unset; its default is 3"),
        ("effort=none", 2, "cannot be unset; its default is normal"),
        ("effort=endless", 2, "'endless' is not one of low, normal, high"),
        ("max_iterations=many", 2, "'many' is not a whole number"),
        ("verify_each_iteration=perhaps", 2, "'perhaps' is not true or false"),
        ("max_cost_usd=much", 2, "'much' is not a number"),
        ("max_iterations=0", 1, "0 is less than 1"),
        ("max_cost_usd=nan", 1, "is not a positive amount"),
        ("max_runtime=soon", 1, "is not a length of time"),
        ("max_runtime=nan", 1, "is not a length of time"),
    ],
)
def test_limits_that_make_no_sense_are_refused(path: Path, word: str, code: int, told: str) -> None:
    before = path.read_bytes()
    ran = aot("redirect", "--set", word)
    assert ran.code == code
    assert told in ran.err
    assert path.read_bytes() == before


# --- the graph ---------------------------------------------------------------------------------------------------


def test_an_atom_is_added(path: Path) -> None:
    words = ["--after", "A1", "--after", "A2", "--run", "make more", "--estimate", "5"]
    ran = aot("redirect", "--add", "more", *words, "--json")
    assert ran.json["added"] == "A3"
    assert ran.json["corrections"][0]["description"] == "added: more"
    added = loop_in(path).atoms[-1]
    assert (added.id, added.depends_on, added.run, added.estimate) == ("A3", ("A1", "A2"), "make more", 5)
    assert loop_in(path).trail[-1].type == "user_correction"


def test_an_atom_is_added_as_a_choice_and_chosen_at_once(path: Path) -> None:
    ran = aot("redirect", "--add", "a third way", "--id", "B3", "--in-group", "way", "--choose", "way=B3")
    assert ran.out == "✔ added: a third way; way continues with B3 instead of B2 (the new atom is B3)\n"
    assert loop_in(path).or_groups["way"].selected == "B3"


def test_an_atom_is_taken_out(path: Path) -> None:
    ran = aot("redirect", "--remove", "A2", "--reason", "nobody needs it")
    assert ran.out == "✔ removed A2: do A2\n"
    loop = loop_in(path)
    assert "A2" not in [one.id for one in loop.atoms]
    assert loop.corrections[-1].description == "nobody needs it"
    assert last_type(path) == "dag_adjustment"


def test_a_choice_is_forced_even_if_it_failed(path: Path) -> None:
    assert aot("redirect", "--choose", "way=B1").out == "✔ way continues with B1 instead of B2\n"
    group = loop_in(path).or_groups["way"]
    assert (group.selected, group.failed) == ("B1", ())


def test_a_result_is_described_anew_and_keeps_its_artifacts(project: Path) -> None:
    loop = a_loop(
        atom("A1", status="resolved"),
        atom("A2", "A1", status="resolved"),
        bindings={"A1": Binding(summary="old", artifacts=("a.py",)), "A2": Binding(summary="on it")},
    )
    path = write_loop(project, loop)
    ran = aot("redirect", "--summary", "A1=uses sessions, a=b")
    assert ran.out == "✔ the result of A1 is now: uses sessions, a=b; the results of A2 no longer count\n"
    assert loop_in(path).bindings == {"A1": Binding(summary="uses sessions, a=b", artifacts=("a.py",))}
    assert last_type(path) == "bindings_override"


def test_an_atom_gets_its_attempts_back(path: Path) -> None:
    ran = aot("redirect", "--retry", "A2")
    assert ran.code == 0
    assert ran.out == ("✔ A2 starts again: its failures no longer count, and the loop may make 10 more attempts\n")
    retried = next(one for one in loop_in(path).atoms if one.id == "A2")
    assert (retried.attempts, retried.failures, retried.alike) == (0, 0, 0)


def test_a_retry_raises_a_number_of_attempts_that_was_set_only_if_it_is_used_up(path: Path) -> None:
    assert aot("redirect", "--set", "max_total_attempts=7").code == 0
    ran = aot("redirect", "--retry", "A2")
    assert "and the loop may make 7 more attempts: max_total_attempts stays at 7" in ran.out
    loop = loop_in(path)
    loop.control = replace(loop.control, tried=7)
    write_loop(path.parent.parent, loop)
    ran = aot("redirect", "--retry", "A2")
    share = 7 // len(loop_in(path).atoms)
    assert f"and the loop may make {share} more attempts: max_total_attempts is raised to {7 + share}" in ran.out
    assert attempts_left(loop_in(path)) == share


def test_names_may_hold_an_equals_sign(project: Path) -> None:
    group = {"a=b": OrGroup(choices=("x=1", "x=2"), selected="x=1")}
    path = write_loop(project, a_loop(atom("x=1", or_group="a=b"), atom("x=2", or_group="a=b"), or_groups=group))
    assert aot("redirect", "--choose", "a=b=x=2").code == 0
    assert loop_in(path).or_groups["a=b"].selected == "x=2"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--remove", "A9"], 1, "there is no atom A9"),
        (["--remove", "a2"], 1, "Did you mean A2?"),
        (["--remove", "A1"], 1, "only unresolved work can be taken out"),
        (["--choose", "wy=B1"], 1, "Did you mean way?"),
        (["--choose", "way=A1"], 1, "A1 cannot be chosen for way"),
        (["--choose", "way"], 2, "is not of the form GROUP=ATOM"),
        (["--summary", "A2=x"], 1, "only a resolved atom has a result"),
        (["--summary", "A2="], 2, "is not of the form ATOM=TEXT"),
        (["--retry", "A1"], 1, "resolved"),
        (["--add", "x", "--after", "A9"], 1, "there is no atom A9"),
        (["--add", "x", "--id", "A1"], 1, "there is an atom A1 already"),
        (["--add", " "], 2, "the text is blank"),
        (["--id", "A7"], 2, "--id describes an added atom"),
        (["--estimate", "7"], 2, "--estimate describes an added atom"),
        (["--command", "x", "--base-case", "x.yaml"], 2, "use only one of them"),
        (["--accept", "--goal", "x"], 2, "in a second command"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_refused(path: Path, project: Path, words: list[str], code: int, told: str) -> None:
    (project / "x.yaml").write_text(BASE_CASE)
    before = path.read_bytes()
    ran = aot("redirect", *words)
    assert ran.code == code
    assert told in ran.err
    assert path.read_bytes() == before


# --- several at once ---------------------------------------------------------------------------------------------


def test_everything_at_once_is_one_update_in_a_fixed_order(path: Path) -> None:
    ran = aot(
        "redirect", "--retry", "B1", "--summary", "A1=anew", "--choose", "way=B1", "--remove", "A2", "--add", "more",
        "--set", "max_attempts=5", "--goal", "It flies", "--reason", "all of it", "--json",
    )  # fmt: skip
    assert ran.code == 0
    assert [one["type"] for one in ran.json["corrections"]] == [
        "objective_change",
        "constraint_change",
        "dag_adjustment",
        "dag_adjustment",
        "dag_adjustment",
        "bindings_override",
        "dag_adjustment",
    ]
    loop = loop_in(path)
    assert {one.description for one in loop.corrections} == {"all of it"}
    assert (loop.control.stall_count, loop.control.redirect_requested) == (0, False)
    assert [one.id for one in loop.atoms] == ["A1", "B1", "B2", "A3"]


def test_if_one_is_refused_nothing_is_changed(path: Path) -> None:
    before = path.read_bytes()
    agree(str(path), loop_in(path).objective)
    assert aot("redirect", "--goal", "It flies", "--add", "more", "--retry", "A1").code == 1
    assert path.read_bytes() == before
    assert agreed(str(path)) == loop_in(path).objective


def test_a_correction_ends_what_is_under_way(path: Path) -> None:
    assert aot("redirect", "--add", "more").code == 0
    loop = loop_in(path)
    assert loop.control.epoch == 1
    assert [one.status for one in loop.atoms] == ["resolved", "pending", "pending", "pending", "pending"]


# --- when it can be done -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "told", "hint"),
    [("pending", "has not begun", "aot align"), ("completed", "is completed", "aot align")],
)
def test_a_loop_that_is_not_under_way_has_no_direction(project: Path, status: str, told: str, hint: str) -> None:
    path = write_loop(project, a_loop(atom("A1"), status=status))
    before = path.read_bytes()
    for ran in (aot("redirect", "--add", "more"), aot("redirect", "--accept")):
        assert ran.code == 1
        assert told in ran.err
        assert hint in ran.err
    code, screen = on_terminal("redirect")
    assert code == 1
    assert told in screen.text
    assert path.read_bytes() == before


def test_without_flags_and_without_a_terminal_it_says_what_could_be_said(path: Path) -> None:
    before = path.read_bytes()
    for ran in (spawn("redirect"), aot("redirect", "--reason", "because"), aot("redirect", "--json")):
        assert ran.code == 2
        for flag in ("--goal", "--set", "--add", "--remove", "--choose", "--summary", "--retry", "--accept"):
            assert flag in ran.err
    assert path.read_bytes() == before
    code, screen = on_terminal("redirect", "--json")
    assert code == 2
    assert "--goal" in screen.text


def test_a_loop_that_somebody_runs_goes_on_so(path: Path) -> None:
    with held_by_another(path) as runner:
        ran = spawn("redirect", "--add", "more", "--json")
        told = spawn("redirect", "--add", "even more")
    assert ran.json["runner"] == runner.pid
    assert told.err == f"Next: process {runner.pid} continues with this  ·  aot watch\n"
    assert aot("redirect", "--add", "more still").err == "Next: aot run  ·  aot status\n"


def test_while_a_dialogue_is_open_nobody_else_changes_the_direction(path: Path) -> None:
    before = path.read_bytes()
    with held_by_another(path, "redirect") as other:
        ran = spawn("redirect", "--add", "more")
        assert ran.code == 1
        assert f"process {other.pid} is changing the direction of this loop" in ran.err
    assert path.read_bytes() == before
    assert spawn("redirect", "--add", "more").code == 0
    assert holder_of(str(path), "redirect") is None
    assert list(path.parent.iterdir()) == [path]


def test_a_stopped_loop_can_be_redirected(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), status="stopped"))
    assert aot("redirect", "--set", "max_iterations=40").code == 0
    assert loop_in(path).control.status == "stopped"
