"""Corrections reach the file together with what a person agreed to: the objective, and the commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.app.preflight.protected_files import changed_protected
from aotloop.core.model import Loop, TrailEntry
from aotloop.statefile.store import Store
from aotloop.trust.objectives import agree, agreed
from tests.cli.terminal import aot, spawn, terminal
from tests.cli.test_error_handler import without_privileges
from tests.loops import a_loop, atom, write_loop
from tests.warm import COMMAND

FAILURE = TrailEntry(reason="no luck", timestamp="2026-01-01T00:00:00Z", type="failure", atom="A2", attempt=1)

BASE_CASE = """\
checklist:
  - item: tests
    check: {type: command, value: make test}
  - item: nice
    check: {type: assertion, value: it is nice}
"""


def loop_in(path: Path) -> Loop:
    return Store(str(path)).load()


@pytest.fixture
def path(project: Path) -> Path:
    return write_loop(project, a_loop(atom("A1", status="resolved"), atom("A2", "A1", attempts=1), trail=[FAILURE]))


# --- what a person agreed to -------------------------------------------------------------------------------------


def test_whoever_runs_it_can_see_that_a_person_changed_the_objective(path: Path) -> None:
    agree(str(path), loop_in(path).objective)
    for words in (["--goal", "It flies"], ["--set", "max_iterations=40"], ["--protect", "x"]):
        assert aot("redirect", *words).code == 0
        assert agreed(str(path)) == loop_in(path).objective


def test_other_corrections_agree_to_nothing(path: Path) -> None:
    assert aot("redirect", "--add", "more").code == 0
    assert agreed(str(path)) is None


def test_a_retry_that_raises_a_limit_agrees_to_no_edit_of_the_objective(path: Path) -> None:
    Store(str(path)).update(lambda loop: setattr(loop, "control", replace(loop.control, tried=1)))
    aot("redirect", "--set", "max_total_attempts=1")
    path.write_text(path.read_text("utf-8").replace("It works", "It is easy"), "utf-8")
    done = aot("redirect", "--retry", "A2")
    assert done.code == 1
    assert "without the agreement of a person" in done.err
    assert (agreed(str(path)) or loop_in(path).objective).goal == "It works"
    assert aot("redirect", "--accept").code == aot("redirect", "--retry", "A2").code == 0
    assert agreed(str(path)) == loop_in(path).objective


def test_only_a_correction_about_protected_files_accepts_how_they_are(path: Path, project: Path) -> None:
    guarded = project / "tests.py"
    guarded.write_text("assert works()")
    store = Store(str(path))
    aot("redirect", "--protect", "tests.py")
    guarded.write_text("assert True")
    for words in (["--set", "max_iterations=40"], ["--goal", "It flies"]):
        assert aot("redirect", *words).code == 0
        assert changed_protected(store, store.load().objective)
    assert aot("redirect", "--accept").code == 0
    assert not changed_protected(store, store.load().objective)


def test_if_the_file_cannot_be_written_nothing_was_agreed_to(path: Path) -> None:
    before = loop_in(path).objective
    agree(str(path), before)
    path.parent.chmod(0o555)
    try:
        done = subprocess.run(
            [*without_privileges(), COMMAND, "redirect", "--goal", "It flies"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    finally:
        path.parent.chmod(0o755)
    assert done.returncode == 1
    assert "Permission denied" in done.stderr
    assert loop_in(path).objective == before
    assert agreed(str(path)) == before


def test_an_agreement_is_taken_back_if_the_file_is_not_written(path: Path) -> None:
    """The lease can be taken and the correction made; only then it turns out that the file cannot be replaced."""
    before = loop_in(path).objective
    agree(str(path), before)
    in_the_way = path.with_name(f".{path.name}.tmp")
    in_the_way.mkdir()
    ran = aot("redirect", "--goal", "It flies")
    assert ran.code == 1
    assert "cannot be written" in ran.err
    assert loop_in(path).objective == before
    assert agreed(str(path)) == before


def test_a_home_that_cannot_be_written_to_costs_only_the_memory(path: Path, own_home: Path) -> None:
    (own_home / ".local").write_text("a file where a folder should be")
    ran = aot("redirect", "--goal", "It flies")
    assert ran.code == 0
    assert "what was agreed on cannot be remembered" in ran.err
    assert loop_in(path).objective.goal == "It flies"


def tampered(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_what_was_changed_behind_the_back_is_not_agreed_to_by_the_way(path: Path) -> None:
    agree(str(path), loop_in(path).objective)
    tampered(path, 'value: "true"', "value: echo")
    for words in (["--goal", "It flies"], ["--set", "max_iterations=40"]):
        ran = aot("redirect", *words)
        assert ran.code == 1
        assert '-base_case.value: "true"; +base_case.value: "echo"' in ran.err
        assert "aot redirect --accept" in ran.err
    assert aot("redirect", "--add", "more").code == 0


def test_what_was_changed_behind_the_back_can_be_accepted(path: Path) -> None:
    agree(str(path), loop_in(path).objective)
    tampered(path, 'goal: "It works"', 'goal: "It is cheap"')
    ran = aot("redirect", "--accept", "--reason", "good idea")
    assert ran.out == '  -goal: "It works"\n  +goal: "It is cheap"\n✔ accepted the changes in the file\n'
    loop = loop_in(path)
    assert [(one.type, one.description) for one in loop.corrections] == [("objective_change", "good idea")]
    assert agreed(str(path)) == loop.objective
    assert aot("redirect", "--goal", "It flies").code == 0


def test_accepted_limits_are_only_a_change_of_limits(path: Path) -> None:
    agree(str(path), loop_in(path).objective)
    tampered(path, "max_parallel_agents: 3", "max_parallel_agents: 9")
    ran = aot("redirect", "--accept", "--json")
    assert ran.json["difference"] == ["-constraints.max_parallel_agents: 3", "+constraints.max_parallel_agents: 9"]
    assert loop_in(path).corrections[-1].type == "constraint_change"
    assert loop_in(path).trail == [FAILURE]


def test_to_accept_what_nobody_changed_changes_nothing(path: Path) -> None:
    before = path.read_bytes()
    for _ in range(2):  # nothing was agreed on yet; then it was
        ran = aot("redirect", "--accept")
        assert ran.code == 0
        assert "nothing had to be changed" in ran.out
        assert agreed(str(path)) == loop_in(path).objective
    assert path.read_bytes() == before


# --- commands ----------------------------------------------------------------------------------------------------


def test_what_the_user_typed_is_accepted(path: Path) -> None:
    assert spawn("verify", "--yes").code == 0
    assert aot("redirect", "--command", "true", "--command", "echo", "--add", "x", "--run", "make x").code == 0
    assert spawn("verify").code == 0
    assert aot("redirect", "--remove", "A3").code == 0  # less than was accepted is accepted
    assert spawn("verify").code == 0
    assert loop_in(path).objective.base_case.checklist is not None


def test_what_the_user_typed_does_not_accept_what_was_there_before(path: Path) -> None:
    assert aot("redirect", "--add", "x", "--run", "make x").code == 0
    assert spawn("verify").code == 1
    assert loop_in(path).atoms[-1].run == "make x"


def test_the_commands_of_a_file_are_shown_before_they_are_taken(path: Path, project: Path) -> None:
    assert spawn("verify", "--yes").code == 0
    (project / "new.yaml").write_text(BASE_CASE.replace("make test", "touch ran.txt"))
    before = path.read_bytes()
    refused = spawn("redirect", "--base-case", "new.yaml")
    assert refused.code == 1
    assert "  $ touch ran.txt\n" in refused.err
    assert "--yes" in refused.err
    assert path.read_bytes() == before
    with terminal("redirect", "--base-case", "new.yaml") as screen:
        screen.wait_for("[y/N] ")
        screen.type("y\n")
        assert screen.end() == 0
    assert spawn("verify").code == 6
    assert (project / "ran.txt").exists()


def test_yes_takes_the_commands_of_a_file(path: Path, project: Path) -> None:
    assert spawn("verify", "--yes").code == 0
    (project / "new.yaml").write_text(BASE_CASE.replace("make test", "true"))
    assert spawn("redirect", "--base-case", "new.yaml", "--yes").code == 0
    assert spawn("verify").code == 6
    assert loop_in(path).objective.base_case.checklist is not None
