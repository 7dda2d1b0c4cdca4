"""A run as lines: each piece of news is one, and readers who are slow, gone or asleep do not touch the run."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import msgspec
import pytest

from aotloop.cli.live import outlet
from aotloop.cli.live.event_lines import JsonLines, PlainLog
from aotloop.cli.live.observers import LiveScreen, observer_for
from aotloop.execution.journals.event_file import AnyEvent
from aotloop.execution.observer import Observer
from aotloop.execution.run_events import AtomsAdded, CorrectionTaken, RunEvent
from tests.app.history.test_event_words import KINDS, an_example
from tests.cli.live.running import AT
from tests.loops import a_loop, atom
from tests.patience import PATIENCE, until

EVERY = [an_example(kind) for kind in KINDS]


@contextmanager
def watching(watcher: Observer) -> Iterator[Observer]:
    watcher.open(a_loop(atom("A1")))
    try:
        yield watcher
    finally:
        watcher.close()


def written(path: Path, kind: type[PlainLog | JsonLines], *news: RunEvent, encoding: str = "utf-8") -> bytes:
    with path.open("w", encoding=encoding) as stream, watching(kind(stream)) as watcher:
        for one in news:
            watcher.news(one)
        watcher.loop_changed(a_loop())
        watcher.output(1, "not here")
    return path.read_bytes()


def test_a_plain_log_has_one_line_for_each_piece_of_news(tmp_path: Path) -> None:
    lines = written(tmp_path / "log", PlainLog, *EVERY).decode().splitlines()
    assert len(lines) == len(EVERY)
    assert [line for line in lines if not re.match(r"2026-01-01T00:00:00Z  \S", line)] == []


def test_json_lines_are_the_news_and_nothing_else(tmp_path: Path) -> None:
    lines = written(tmp_path / "log", JsonLines, *EVERY).splitlines()
    assert [msgspec.json.decode(line, type=AnyEvent) for line in lines] == EVERY


def test_text_that_is_not_valid_utf_8_is_written_all_the_same(tmp_path: Path) -> None:
    broken = CorrectionTaken(at=AT, text="half \udcff of it")
    [line] = written(tmp_path / "json", JsonLines, broken).splitlines()
    assert msgspec.json.decode(line)["kind"] == "correction"
    assert b"of it" in written(tmp_path / "plain", PlainLog, broken)


def test_a_poor_encoding_shows_what_it_can(tmp_path: Path) -> None:
    told = written(tmp_path / "log", PlainLog, CorrectionTaken(at=AT, text="é 日本"), encoding="latin-1")
    assert "é \\u65e5\\u672c" in told.decode("latin-1")


def test_a_line_is_out_as_soon_as_it_is_news(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("w") as stream, watching(PlainLog(stream)) as watcher:
        watcher.news(EVERY[0])
        until(path.read_text)


# --- readers -----------------------------------------------------------------------------------------------------


@contextmanager
def a_pipe() -> Iterator[tuple[int, TextIO]]:
    ours, theirs = os.pipe()
    with os.fdopen(theirs, "w") as stream:
        yield ours, stream


@pytest.mark.parametrize("kind", [PlainLog, JsonLines])
def test_a_reader_who_leaves_stops_the_lines_and_nothing_else(kind: type[PlainLog | JsonLines]) -> None:
    with a_pipe() as (ours, stream):
        os.close(ours)
        with watching(kind(stream)) as watcher:
            for one in EVERY * 20:
                watcher.news(one)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_stops_the_lines_and_nothing_else() -> None:
    with Path("/dev/full").open("w") as stream, watching(PlainLog(stream)) as watcher:
        watcher.news(EVERY[0])


def test_a_reader_who_sleeps_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for it would wait for ever."""
    monkeypatch.setattr(outlet, "PATIENCE", 0.1)
    many = AtomsAdded(at=AT, atoms=tuple(f"A{number}" for number in range(1000)))
    with a_pipe() as (ours, stream):
        watcher = JsonLines(stream)
        watcher.open(a_loop())
        for _ in range(1000):
            watcher.news(many)
        watcher.close()
        taken = os.read(ours, 1 << 20)
        assert 0 < len(taken) < 1000 * len(msgspec.json.encode(many)), "it took no more than a pipe holds"
        os.close(ours)


def test_a_reader_who_is_slow_gets_everything() -> None:
    many = AtomsAdded(at=AT, atoms=tuple(f"A{number}" for number in range(2000)))
    all_told = threading.Event()
    lines: list[str] = []

    def read(descriptor: int) -> None:
        all_told.wait(PATIENCE)
        with os.fdopen(descriptor) as stream:
            lines.extend(stream)

    with a_pipe() as (ours, stream):
        reader = threading.Thread(target=read, args=(ours,))
        reader.start()
        with watching(JsonLines(stream)) as watcher:
            for _ in range(100):
                watcher.news(many)
            all_told.set()
    reader.join(PATIENCE)
    assert len(lines) == 100


def test_closing_twice_or_before_opening_is_no_mistake(tmp_path: Path) -> None:
    for kind in (PlainLog, JsonLines, LiveScreen):
        with (tmp_path / "log").open("w") as stream:
            watcher = kind(stream)
            watcher.close()
            watcher.news(EVERY[0])
            watcher.close()


# --- the choice --------------------------------------------------------------------------------------------------


def test_without_a_terminal_lines_are_chosen(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as stream:
        assert isinstance(observer_for(stream=stream), PlainLog)
        assert isinstance(observer_for(as_json=True, stream=stream), JsonLines)


def test_on_a_terminal_a_picture_is_chosen_if_it_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        monkeypatch.setenv("TERM", "xterm-256color")
        assert isinstance(observer_for(stream=stream), LiveScreen)
        assert isinstance(observer_for(stream=stream, plain=True), PlainLog)
        assert isinstance(observer_for(stream=stream, as_json=True), JsonLines)
        stream.reconfigure(encoding="latin-1")
        assert isinstance(observer_for(stream=stream), PlainLog)
        stream.reconfigure(encoding="utf-8")
        monkeypatch.setenv("TERM", "dumb")
        assert isinstance(observer_for(stream=stream), PlainLog)
    os.close(ours)
