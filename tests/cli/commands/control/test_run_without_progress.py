"""A run that gets nowhere says so half-way, asks for a person, and ends with what a person could change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aotloop.core.model import Constraints
from tests.cli.terminal import on_terminal, terminal
from tests.loops import atom
from tests.runner.agents import done, fails, scripted
from tests.runner.projects import Project, a_project

ASKED = "stop it (aot stop), change its direction (aot redirect), or let it continue"


def hopeless(tmp_path: Path, *, most: int, alike: bool = False, seen: Path | None = None) -> Project:
    """A1 is done at once, A2 never. `seen`: the last attempt waits for this file."""
    tmp_path.mkdir(exist_ok=True)
    failures = [fails("no way" if alike else f"reason {'x' * number}") for number in range(most)]
    if seen is not None:
        failures[most - 2]["after"] = str(seen)
    orders = {"A1": [done({"a": "a"})], "A2": failures}
    limits = Constraints(max_total_attempts=most, max_stall_count=3 if alike else 50)
    config = scripted(tmp_path, orders)
    return a_project(tmp_path, atom("A1"), atom("A2", "A1"), base_case="false", config=config, constraints=limits)


def test_half_of_it_spent_with_nothing_new_is_told_once_in_every_log(tmp_path: Path) -> None:
    project = hopeless(tmp_path, most=9)
    ran = project.run()
    assert (ran.code, project.loop.control.stop_reason) == (5, "limit: 9 attempts of the 9 allowed")
    (told,) = ran.kinds("half_spent")
    assert (told["attempts"], told["more"], told["atoms"]) == (4, 4, ["A2"])
    line = f"no progress for 4 attempts, at most 4 more (most failures: A2): {ASKED}"
    log = project.aot("log")
    assert log.out.count(f"half_spent       {line}\n") == 1
    assert "half_spent" in [one["kind"] for one in json.loads(project.aot("log", "--json").out)["entries"]]
    assert "aot run --max-total-attempts 18" in project.aot("run", "--yes").err


def test_on_a_terminal_it_rings_the_bell_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    project = hopeless(tmp_path, most=9, seen=seen)
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("AOT_CONFINE", "off")
    with terminal("run", "--yes", columns=200) as screen:
        screen.wait_for(f"! no progress for 4 attempts, at most 4 more (most failures: A2): {ASKED}")
        seen.touch()
        assert screen.end() == 5
    assert screen.shown.count("\a") == 1


def test_a_log_on_a_terminal_rings_it_too_and_a_log_in_a_file_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = hopeless(tmp_path, most=9)
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("AOT_CONFINE", "off")
    code, screen = on_terminal("run", "--yes", columns=200, environ={"TERM": "dumb"})
    assert code == 5
    assert screen.shown.count("\a") == 1
    other = hopeless(tmp_path / "other", most=9)
    ran = other.aot("run", "--yes")
    assert "half is spent: no progress for 4 attempts" in ran.out
    assert "\a" not in ran.out + ran.err


def test_what_fails_alike_again_and_again_is_left_to_a_person_with_what_to_change(tmp_path: Path) -> None:
    project = hopeless(tmp_path, most=80, alike=True)
    ran = project.aot("run", "--yes")
    assert ran.code == 6
    reason = project.loop.control.stop_reason or ""
    assert reason.startswith("blocked: A2 failed ")
    for told in (" times in the same way (no way)", "change what A2 asks for or its check", "aot redirect --retry A2"):
        assert told in reason
    assert reason in ran.out
    assert "Next: aot log A2  ·  aot redirect  ·  aot report\n" in ran.err
    assert project.aot("status").err == "Next: aot log A2  ·  aot redirect  ·  aot run\n"
    assert project.loop.control.tried < 80
