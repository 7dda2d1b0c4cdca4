"""A reader of events that comes back with its mark has every event once, whatever happened to the file."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from aotloop.app.overview.event_feed import last_event, read_events
from tests.app.diagram.loops import unhurried


def journal(root: Path) -> Path:
    (root / ".aot").mkdir(exist_ok=True)
    (root / ".claude").mkdir(exist_ok=True)
    return root / ".aot" / "events.jsonl"


def line(number: int) -> str:
    return f'{{"kind":"warning","at":"2026-01-01T00:00:00Z","text":"number {number}"}}\n'


def state(root: Path) -> str:
    return str(root / ".claude" / "aot-loop-state.md")


def numbers(events: list[dict[str, object]]) -> list[int]:
    return [int(str(event["text"]).rpartition(" ")[2]) for event in events]


@unhurried
@given(parts=st.lists(st.integers(0, 7), max_size=6), most=st.integers(1, 5))
def test_however_it_is_cut_nothing_is_lost_and_nothing_comes_twice(parts: list[int], most: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        path, mark, seen, written = journal(root), None, list[int](), 0
        for count in parts:
            with path.open("a") as file:
                for _ in range(count):
                    file.write(line(written))
                    written += 1
                file.write('{"kind":"warning"')  # half a line, as another process writes it
            while True:
                batch = read_events(state(root), mark, most)
                seen += numbers(batch.events)
                mark = batch.mark
                if not batch.is_more:
                    break
            with path.open("r+b") as file:
                file.truncate(path.stat().st_size - len('{"kind":"warning"'))
        assert seen == list(range(written))


def test_a_file_that_was_replaced_is_read_anew_and_the_reader_is_told(tmp_path: Path) -> None:
    path = journal(tmp_path)
    path.write_text(line(1) + line(2))
    first = read_events(state(tmp_path), None)
    assert (numbers(first.events), first.is_new_start) == ([1, 2], True)
    path.rename(path.with_name("old-events.jsonl"))
    path.write_text(line(3))
    second = read_events(state(tmp_path), first.mark)
    assert (numbers(second.events), second.is_new_start) == ([3], True)
    third = read_events(state(tmp_path), second.mark)
    assert (third.events, third.is_new_start) == ([], False)


def test_a_foreign_mark_begins_anew(tmp_path: Path) -> None:
    journal(tmp_path).write_text(line(1))
    for mark in ("", "x", "1:2:3", "9" * 400, "\n\n", f"{read_events(state(tmp_path), None).mark}9"):
        assert numbers(read_events(state(tmp_path), mark).events) == [1]


def test_no_journal_has_no_events(tmp_path: Path) -> None:
    assert read_events(state(tmp_path), None).events == []
    assert last_event(state(tmp_path)) is None


def test_the_last_event_is_found_behind_what_is_no_event(tmp_path: Path) -> None:
    journal(tmp_path).write_text(line(1) + line(2) + "garbage\n{}\n")
    assert (last_event(state(tmp_path)) or {})["text"] == "warning: number 2"
