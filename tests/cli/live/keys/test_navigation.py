"""The live view takes keys: on a real terminal, and without traces when it closes."""

from __future__ import annotations

import termios
from functools import partial
from pathlib import Path

from rich.cells import cell_len

from aotloop.cli.live.keys.keyboard import _named
from aotloop.cli.live.keys.navigation import Navigation, Planned
from aotloop.cli.live.run_view import Picture
from aotloop.cli.redirect.correction_line import BEGINNINGS
from aotloop.execution import run_events
from tests.cli.judged_loops import loop_in
from tests.cli.live.running import AT, a_run
from tests.cli.terminal import terminal
from tests.loops import a_loop, atom, write_loop
from tests.patience import until


class Noted:
    """Actions that are only noted."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.changed: list[str] = []

    def transcript(self, atom: str) -> list[str]:
        return [f"transcript of {atom}", *(f"line {number}" for number in range(100))]

    def diff(self, atom: str) -> list[str]:
        return [f"diff of {atom}", *self.changed]

    def stop(self) -> str:
        self.done.append("stop")
        return "it stops"

    def pause(self, *, is_paused: bool) -> str:
        self.done.append("resume" if is_paused else "pause")
        return ""

    def retry(self, atom: str) -> str:
        self.done.append(f"retry {atom}")
        return ""

    def redirect(self, line: str) -> Planned:
        if "nonsense" in line:
            return Planned("it is not understood")
        return Planned(f"{line} would be done", partial(self._note, line))

    def _note(self, line: str) -> str:
        self.done.append(line)
        return "done"


def pressed(*keys: str) -> tuple[Picture, Navigation, Noted]:
    picture, noted = Picture(a_loop(atom("A1", status="resolved"), atom("A2", "A1"), atom("B1"))), Noted()
    navigation = Navigation(picture, noted)
    for key in keys:
        navigation.press(key)
    return picture, navigation, noted


def text(navigation: Navigation, width: int = 60, height: int = 10) -> str:
    page = navigation.page(width, height)
    assert page is not None
    return "\n".join("".join(piece for piece, _ in line) for line in page)


def test_an_atom_is_selected_and_its_pages_are_opened_and_closed() -> None:
    picture, navigation, _ = pressed("down", "j", "j", "t")
    assert picture.selected == "A2"
    assert "transcript of A2" in text(navigation)
    navigation.press("page down")
    assert "line 25" in text(navigation)
    navigation.press("q")
    assert navigation.page(60, 10) is None
    navigation.press("d")
    assert "diff of A2" in text(navigation)


def test_the_key_that_opens_the_help_closes_it() -> None:
    _, navigation, _ = pressed("?")
    assert "select an atom" in text(navigation)
    navigation.press("?")
    assert navigation.page(60, 10) is None


def test_on_a_narrow_terminal_the_help_is_whole_and_no_hint_is_cut() -> None:
    _, navigation, _ = pressed("?")
    shown = " ".join(text(navigation, 60, 40).split())
    assert "…" not in shown
    assert "with the flags of `aot redirect`" in shown
    assert "and ends `aot watch`." in shown
    navigation.press("q")
    assert "".join(piece for piece, _ in navigation.foot(60)) == "? help · ↑↓ select · t transcript · d diff · p pause"


def test_a_long_line_of_wide_characters_is_shown_whole() -> None:
    _, navigation, actions = pressed("down")
    actions.changed = ["日本語の文章です。" * 10]
    navigation.press("d")
    for width in (31, 60):
        shown = text(navigation, width, 40).split("\n")
        assert "".join(shown[1:-1]) == actions.changed[0]
        assert all(cell_len(line) <= width for line in shown)


def test_stop_asks_first_and_the_others_act() -> None:
    assert pressed("s", "n")[2].done == []
    assert pressed("s", "y", "p", "down", "R", "r", "r", *"max_iterations=3", "enter")[2].done == [
        "stop",
        "pause",
        "retry A1",
        "max_iterations=3",
    ]


def test_every_correction_is_offered_told_and_applied_after_a_yes() -> None:
    _, navigation, _ = pressed("r")
    assert navigation.page(100, 40) is not None
    assert [one.label for one in BEGINNINGS if one.label not in text(navigation, 100, 40)] == []
    assert pressed("down", "r", "x", "enter", "y")[2].done == ["--remove A1"]
    assert pressed("down", "r", "x", "enter", "n")[2].done == []
    assert pressed("down", "r", "w", *'better"', "enter", "y")[2].done == ['--summary A1="better"']
    assert pressed("r", "a", *"nonsense", "enter", "y")[2].done == []
    assert pressed("r", "r", "escape", "p")[2].done == ["pause"]


def test_fold_and_filter_choose_what_is_shown() -> None:
    assert pressed("f")[0].choosable() == ["B1", "A2"]
    assert pressed("/", "b", "x", "backspace", "1", "enter")[0].choosable() == ["B1"]
    assert pressed("/", "b", "enter", "escape")[0].choosable() == ["A1", "B1", "A2"]


def test_keys_have_names() -> None:
    assert _named("j\x1b[A\x1bOB\x1b\r\x01") == ["j", "up", "down", "escape", "enter"]


def test_in_a_real_terminal_a_key_pauses_the_run_and_the_terminal_is_restored(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="in_progress"), atom("A2", "A1")))
    with a_run(path) as run:
        run.began()
        run.begin("A1", 1)
        run.printed("A1", 1, "compiling")
        with terminal("watch") as screen:
            screen.wait_for("? help")
            screen.wait_for("1 attempt under way")
            assert not termios.tcgetattr(screen.descriptor)[3] & termios.ICANON
            screen.type("?")
            screen.wait_for("open the transcript")
            screen.type("q")
            screen.type("p")
            until(lambda: loop_in(path).control.paused)
            screen.type("jt")
            screen.wait_for("q closes")
            run.tell(run_events.RunEnded(at=AT, status="stopped", reason="user: enough"))
            run.end()
            assert screen.end() == 0
            assert termios.tcgetattr(screen.descriptor)[3] & termios.ICANON
