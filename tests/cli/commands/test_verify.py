"""`aot verify` runs the base case, says what holds, and records the verdict."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from aotloop.core.model import BaseCase, Check, ChecklistItem
from aotloop.statefile.store import Store
from tests.cli.terminal import COLOUR, aot, on_terminal, spawn, started, terminal
from tests.loops import a_loop, atom, write_loop
from tests.patience import FOREVER, PATIENCE, until, written

SLOW = f"echo $$ > pid; sleep {FOREVER}"


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(pid: int) -> None:
    until(lambda: not alive(pid), f"{pid} still runs")


def wait_for_pid(project: Path) -> int:
    return int(written(project / "pid"))


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


def test_a_command_that_takes_too_long_is_killed_and_called_failed(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), command=SLOW))
    ran = aot("verify", "--yes", "--timeout", "0.3")
    assert ran.code == 1
    assert "timed out after 0.3 s" in ran.out
    wait_until_gone(wait_for_pid(project))


def test_ctrl_c_ends_the_check_and_exits_with_130(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command=SLOW))
    before = path.read_bytes()
    with terminal("verify", "--yes") as screen:
        screen.wait_for("running: command")
        pid = wait_for_pid(project)
        screen.type("\x03")
        assert screen.end() == 130
    assert screen.text.endswith("aot: interrupted\n")
    assert "Traceback" not in screen.text
    wait_until_gone(pid)
    assert path.read_bytes() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_takes_the_check_along(project: Path, number: signal.Signals) -> None:
    write_loop(project, a_loop(atom("A1"), command=SLOW))
    with started("verify", "--yes") as process:
        pid = wait_for_pid(project)
        process.send_signal(number)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert err == b""
    wait_until_gone(pid)


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
