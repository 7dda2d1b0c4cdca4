"""On a real terminal: the picture keeps up, other text is left alone, and in the end the terminal is as it was."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import pytest

from aotloop.cli.live import observers as live_screen
from aotloop.cli.live.observers import LiveScreen
from aotloop.cli.live.picture import painter
from aotloop.cli.live.run_view import Picture
from aotloop.core.model import Loop
from aotloop.execution import run_events
from tests.app.diagram.loops import sign_in
from tests.cli.live.running import AT, a_beginning
from tests.loops import a_loop, atom
from tests.patience import PATIENCE, give_way, until

SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
HIDDEN, SHOWN = "\x1b[?25l", "\x1b[?25h"
TITLE = re.compile(r"\x1b\[2[23];0t|\x1b\]0;[ -~]*\x1b\\")
ALLOWED = re.compile(r"\x1b\[(?:\?25[lh]|[0-9;]*m|[12]?K|[12]?J|\d*A|H)")
"""Cursor hidden and shown, colours, lines erased, upwards, to the top: what a picture is drawn with."""
MARK = b"<all of it>"
EVIL = "\x1b]0;owned\x07\x1b[8m\x9b2J\u202e\r\n\x1b[99;99H"


class Tty:
    """The person's side of a terminal: what it was sent, and how large it is."""

    def __init__(self, ours: int, theirs: int) -> None:
        self._ours, self._theirs = ours, theirs
        self._sent = b""
        self._done = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self.resize(80, 24)

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @property
    def sent(self) -> str:
        return self._sent.decode("utf-8", "replace")

    @property
    def text(self) -> str:
        return SEQUENCE.sub("", self.sent)

    def wait_for(self, wanted: str, since: int = 0) -> None:
        until(
            lambda: wanted in SEQUENCE.sub("", self.sent[since:]), lambda: f"{wanted!r} is not in {self.sent[since:]!r}"
        )

    def watch(self) -> None:
        self._reader.start()

    def settle(self) -> None:
        """Until all that was written has been read: a mark that was written last is read last, and left out."""
        os.write(self._theirs, MARK)
        until(lambda: MARK in self._sent)
        self._sent = self._sent.replace(MARK, b"")

    def leave(self) -> None:
        self._done.set()
        if self._reader.is_alive():
            self._reader.join()

    def _read(self) -> None:
        while not self._done.is_set():
            if select.select([self._ours], [], [], 0.05)[0]:
                self._sent += os.read(self._ours, 1 << 16)


@contextmanager
def a_terminal(*, is_watched: bool = True) -> Iterator[tuple[Tty, TextIO]]:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        tty = Tty(ours, theirs)
        if is_watched:
            tty.watch()
        try:
            yield tty, stream
        finally:
            tty.leave()
            os.close(ours)  # before the stream is closed: what nobody took goes with it


@contextmanager
def a_screen(stream: TextIO, loop: Loop, **more: Any) -> Iterator[LiveScreen]:
    screen = LiveScreen(stream, **more)
    screen.open(loop)
    try:
        yield screen
    finally:
        screen.close()


def began(atom_id: str, attempt: int) -> run_events.AttemptBegan:
    return run_events.AttemptBegan(at=AT, atom=atom_id, attempt=attempt, role="worker", agent="claude")


def test_the_picture_keeps_up_and_the_last_one_stays() -> None:
    loop = a_loop(atom("A1"), atom("A2", "A1"))
    with a_terminal() as (tty, stream):
        with a_screen(stream, loop.snapshot()) as screen:
            tty.wait_for("○ A1")
            loop.atoms[0] = atom("A1", status="in_progress")
            screen.loop_changed(loop.snapshot())
            screen.news(began("A1", 1))
            screen.output(1, "compiling \x1b[31mfoo.c\x1b[0m")
            tty.wait_for("│ compiling foo.c")
            tty.wait_for("more attempts")
            loop.atoms[0] = atom("A1", status="resolved")
            screen.loop_changed(loop)
            screen.news(run_events.RunEnded(at=AT, status="stopped", reason="user: enough"))
        tty.wait_for("■ user: enough")
        tty.settle()
        last = tty.sent[tty.sent.rindex("It works") :]
        assert "✔ A1" in SEQUENCE.sub("", last)
        assert last.endswith(f"\r\n{SHOWN}")


def test_the_cursor_is_hidden_meanwhile_and_shown_in_the_end() -> None:
    with a_terminal() as (tty, stream):
        with suppress(ZeroDivisionError), a_screen(stream, sign_in()):
            tty.wait_for("Users can sign in")
            assert tty.sent.count(HIDDEN) == 1
            assert SHOWN not in tty.sent
            raise ZeroDivisionError
        tty.settle()
        assert tty.sent.rindex(SHOWN) > tty.sent.rindex(HIDDEN)


def test_no_sequence_of_an_atom_or_an_agent_reaches_the_terminal() -> None:
    name = f"A1{EVIL}"
    loop = a_loop(atom(name, description=EVIL, status="in_progress"), atom("A2", or_group=f"way{EVIL}"))
    with a_terminal() as (tty, stream):
        with a_screen(stream, loop) as screen:
            screen.news(a_beginning(branch=EVIL, goal=EVIL))
            screen.news(began(name, 1))
            screen.news(run_events.NotMerged(at=AT, atom=name, attempt=1, why="conflict", reason=EVIL))
            screen.output(1, f"printed {EVIL}")
            tty.wait_for("printed")
        tty.settle()
        left = (
            ALLOWED.sub("", TITLE.sub("", tty.sent))
            .replace("\r\n", "\n")
            .replace("\r", "", tty.sent.count("\r\x1b[2K"))
        )
        assert [one for one in left if not one.isprintable() and one != "\n"] == []
        assert "\x1b[8m" not in tty.sent


def test_it_is_drawn_for_the_size_the_terminal_has_now() -> None:
    loop = a_loop(*(atom(f"A{number}", description="word " * 100) for number in range(100)))
    with a_terminal() as (tty, stream), a_screen(stream, loop):
        tty.wait_for("… ")
        for columns, lines in ((40, 10), (200, 60), (20, 3), (90, 30)):
            before = len(tty.sent)
            tty.resize(columns, lines)
            tty.wait_for("It works", since=before)
            tty.wait_for("It works", since=len(tty.sent))  # a whole picture later
            frame = tty.text[tty.text.rindex("It works") :].split("\n")
            assert len(frame) <= lines
            assert max(len(line.rstrip("\r")) for line in frame) <= max(columns, 24)


def test_without_colours_there_are_none() -> None:
    with a_terminal() as (tty, stream):
        with a_screen(stream, sign_in(), colour=False):
            tty.wait_for("A4")
        assert re.findall(r"\x1b\[[0-9;]*m", tty.sent) == []


def test_what_goes_on_between_two_pictures_is_not_drawn_line_by_line() -> None:
    with a_terminal() as (tty, stream), a_screen(stream, a_loop(atom("A1"))) as screen:
        screen.news(began("A1", 1))
        for number in range(200_000):
            screen.output(1, f"line {number}")
        tty.wait_for("line 199999")
        assert len(re.findall(r"line \d+", tty.text)) < 20_000


def test_an_idle_picture_is_drawn_again_when_another_second_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds, tell = [1000.0], live_screen._Inbox.tell
    turns: list[int] = []

    def counted(inbox: live_screen._Inbox, picture: Picture) -> bool:
        turns.append(1)
        return tell(inbox, picture)

    def idle(count: int) -> None:
        before = len(turns)
        until(lambda: len(turns) > before + count)

    monkeypatch.setattr(painter, "unix_time", lambda: seconds[0])
    monkeypatch.setattr(painter, "PER_SECOND", 200)
    monkeypatch.setattr(live_screen._Inbox, "tell", counted)
    with a_terminal() as (tty, stream), a_screen(stream, a_loop(atom("A1"))):
        tty.wait_for("more attempts")
        idle(2)
        tty.settle()
        before = tty.sent.count("It works")
        idle(20)
        tty.settle()
        assert tty.sent.count("It works") == before
        seconds[0] += 1
        tty.wait_for("It works", since=len(tty.sent))


def test_a_terminal_that_takes_nothing_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for it would wait for ever."""
    monkeypatch.setattr(live_screen, "PATIENCE", 0.1)
    loop = a_loop(*(atom(f"A{number}") for number in range(200)))
    with a_terminal(is_watched=False) as (tty, stream):
        tty.resize(200, 60)
        screen = LiveScreen(stream)
        screen.open(loop)
        for number in range(100):
            screen.news(began(f"A{number}", number))
            screen.loop_changed(loop)
            give_way()
        screen.close()
        assert screen.fault is None


def test_a_terminal_that_is_gone_is_no_error() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        screen = LiveScreen(stream)
        os.close(ours)
        screen.open(a_loop(atom("A1")))
        until(lambda: screen.fault)
        screen.news(began("A1", 1))
        screen.close()
        assert isinstance(screen.fault, OSError)


def test_a_fault_of_ours_is_told_in_a_line_and_the_terminal_restored() -> None:
    with a_terminal() as (tty, stream):
        with a_screen(stream, a_loop(atom("A1"))) as screen:
            tty.wait_for("A1")
            screen.news(run_events.Verifying(at=3))  # type: ignore[arg-type]  # nobody does that
            tty.wait_for("the picture of the run failed")
            screen.news(began("A1", 1))
        tty.settle()
        assert tty.sent.rindex(SHOWN) > tty.sent.rindex(HIDDEN)
        assert "Traceback" not in tty.sent


PROGRAM = """
import sys
from tests.app.diagram.loops import sign_in
from aotloop.cli.live import observer_for
watching = observer_for()
watching.open(sign_in())
sys.stdin.readline()
print("said by the way", file=sys.stderr)
sys.stdin.readline()
watching.close()
print("and after it")
"""


def test_what_others_print_appears_above_the_picture() -> None:
    with a_terminal() as (tty, stream):
        environ = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=stream, stderr=stream, env=environ
        )
        assert process.stdin is not None
        for shown in ("Users can sign in", "said by the way"):
            tty.wait_for(shown)
            process.stdin.write(b"\n")
            process.stdin.flush()
        tty.wait_for("and after it")
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        said = tty.text.index("said by the way")
        assert tty.text.rindex("Users can sign in") > said
        assert tty.text.index("and after it") > tty.text.rindex("Users can sign in")
