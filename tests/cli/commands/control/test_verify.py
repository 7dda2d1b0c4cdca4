"""`aot verify` runs the base case, says what holds, and records the verdict."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from aotloop.core.model import BaseCase, Check, ChecklistItem
from aotloop.statefile.store import Store
from tests.cli.terminal import COLOUR, Ran, aot, on_terminal, spawn, started, terminal
from tests.loops import a_loop, atom, write_loop
from tests.patience import FOREVER, PATIENCE, until, with_time_enough, written
from tests.process.sandbox.worlds import engines
from tests.runner.projects import processes_with

behind_each_engine = pytest.mark.parametrize("engine", engines())


def slow(project: Path) -> str:
    """A command that hangs. Its processes bear its path: the number that one sees of itself may be of a namespace."""
    program = project / "slow"
    program.write_text(f"export SLOW={program}; echo begun > begun; sleep {FOREVER}; true\n")
    return f"sh {program}"


def wait_until_begun(project: Path) -> None:
    assert written(project / "begun")
    assert processes_with(str(project / "slow")) != []


def wait_until_gone(project: Path) -> None:
    until(lambda: not processes_with(str(project / "slow")), "it still runs")


def judged() -> BaseCase:
    assertion = Check(type="assertion", value="it is nice")
    return BaseCase(
        checklist=(
            ChecklistItem(item="runs", check=Check(type="command", value="true")),
            ChecklistItem(item="nice", check=assertion),
        )
    )


def test_a_base_case_that_holds_exits_with_0(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    ran = spawn("verify", "--yes")
    assert ran.code == 0
    assert "✔ the base case holds" in ran.out
    verdict = Store(str(path)).load().control.verdict
    assert verdict is not None
    assert verdict.passed


def test_a_base_case_that_does_not_hold_exits_with_1(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command="echo broken; exit 3"))
    ran = spawn("verify", "--yes")
    assert ran.code == 1
    assert "exit 3" in ran.out
    assert "│ broken" in ran.out
    assert "aot verify" in ran.err
    verdict = Store(str(path)).load().control.verdict
    assert verdict is not None
    assert verdict.failing == ("command: echo broken; exit 3",)


def test_open_judgements_exit_with_6(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), base_case=judged()))
    ran = spawn("verify", "--yes")
    assert ran.code == 6
    assert "? undecided: nice" in ran.out


def test_json_is_all_that_is_printed(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), base_case=judged()))
    ran = spawn("verify", "--yes", "--json")
    assert ran.code == 6
    assert ran.json["undecided"] is True
    assert [entry["item"] for entry in ran.json["checklist"]] == ["runs", "nice"]


def test_nested_items_are_shown_below_their_group(project: Path) -> None:
    one = ChecklistItem(item="one", check=Check(type="command", value="true"))
    two = ChecklistItem(item="two", check=Check(type="file", value="two.txt"))
    base_case = BaseCase(
        checklist=(ChecklistItem(item="any", any_of=(one, two)), ChecklistItem(item="all", group=(two,)))
    )
    write_loop(project, a_loop(atom("A1"), base_case=base_case))
    out = aot("verify", "--yes").out
    assert "✔ any: 'one' passed\n  ✔ one: exit 0" in out
    assert "  - two: not needed" in out
    assert "✘ all: 0 of 1 passed, 1 failed\n  ✘ two: nothing is there: two.txt" in out
    assert "the base case does not hold: all / two" in out


def test_what_a_check_prints_cannot_steer_the_terminal(project: Path) -> None:
    script = project / "noisy.sh"
    script.write_text(
        r"""printf '\033[31mred\033[0m \033]0;title\007\033[2J\033[1;1Hcleared\n'
printf 'half\rwhole\n\033P1$rq\033\\\tback\b\b\a\302\233K end\n'
exit 1
"""
    )
    write_loop(project, a_loop(atom("A1"), command="sh noisy.sh"))
    code, screen = on_terminal("verify", "--yes")
    assert code == 1
    assert "│ red cleared" in screen.text
    assert "│ whole" in screen.text
    assert "title" not in screen.text
    left = COLOUR.sub("", screen.shown).replace("\r\x1b[2K", "")
    assert not [character for character in left if not character.isprintable() and character not in "\r\n"]


def test_a_megabyte_of_output_is_cut_to_its_end(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command="head -c 1000000 /dev/zero | tr '\\0' x; echo; echo the end; false"))
    ran = spawn("verify", "--yes")
    assert ran.code == 1
    assert "│ the end" in ran.out
    assert len(ran.out) < 5000


@behind_each_engine
def test_a_command_that_takes_too_long_is_killed_and_called_failed(
    project: Path, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AOT_SANDBOX", engine)
    write_loop(project, a_loop(atom("A1"), command=slow(project)))
    seconds: list[float] = []

    def verify(limit: float) -> Ran:
        seconds.append(limit)
        return aot("verify", "--yes", "--timeout", str(limit))

    ran = with_time_enough(verify, lambda _: (project / "begun").exists())
    assert ran.code == 1
    assert f"timed out after {seconds[-1]:g} s" in ran.out
    wait_until_gone(project)


@behind_each_engine
def test_ctrl_c_ends_the_check_and_exits_with_130(project: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AOT_SANDBOX", engine)
    path = write_loop(project, a_loop(atom("A1"), command=slow(project)))
    before = path.read_bytes()
    with terminal("verify", "--yes") as screen:
        screen.wait_for("running: command")
        wait_until_begun(project)
        screen.type("\x03")
        assert screen.end() == 130
    assert screen.text.endswith("aot: interrupted\n")
    assert "Traceback" not in screen.text
    wait_until_gone(project)
    assert path.read_bytes() == before


@behind_each_engine
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_takes_the_check_along(
    project: Path, number: signal.Signals, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AOT_SANDBOX", engine)
    write_loop(project, a_loop(atom("A1"), command=slow(project)))
    with started("verify", "--yes") as process:
        wait_until_begun(project)
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert err == b""
    wait_until_gone(project)


def test_what_is_running_is_told_on_a_terminal_and_gone_in_the_end(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command="sleep 0.1"))
    code, screen = on_terminal("verify", "--yes")
    assert code == 0
    assert "0 done; running: command: sleep 0.1" in screen.text
    assert screen.text.rpartition("\r\x1b[2K")[2].startswith("✔ command: sleep 0.1: exit 0")


def test_what_is_running_is_not_told_where_nobody_looks(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert "running:" not in spawn("verify", "--yes").err


def test_the_checks_run_in_the_project_wherever_one_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_loop(project, a_loop(atom("A1"), command="test -d .claude"))
    (project / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(project / "deep" / "down")
    assert aot("verify", "--yes").code == 0
