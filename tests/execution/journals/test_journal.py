"""The journal: it ignores itself, survives what is in its way, and never stands in the way of a run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from aotloop.execution import run_events
from aotloop.execution.journals import journal as journals
from aotloop.execution.journals.event_file import AnyEvent
from aotloop.execution.journals.journal import Journal
from aotloop.execution.journals.records import Record, Work


def a_record(atom: str = "A1", attempt: int = 1, run_id: str = "r1", **more: object) -> Record:
    values = {"run_id": run_id, "epoch": 0, "atom": atom, "attempt": attempt, "outcome": "done", **more}
    return msgspec.convert(values, Record)


def opened(root: Path) -> Journal:
    journal = Journal(root)
    journal.open()
    return journal


def test_it_ignores_itself(tmp_path: Path) -> None:
    opened(tmp_path).close()
    assert (tmp_path / ".aot" / ".gitignore").read_text() == "*\n"


def test_news_are_lines_that_read_back(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    told = run_events.Warned(at="now", text="a\nb ü \x1b", atom="A1")
    journal.note(told)
    (line,) = (tmp_path / ".aot" / "events.jsonl").read_bytes().splitlines()
    assert msgspec.json.decode(line, type=AnyEvent) == told


def test_half_a_line_of_a_process_that_was_killed_is_ended(tmp_path: Path) -> None:
    opened(tmp_path).close()
    events = tmp_path / ".aot" / "events.jsonl"
    events.write_text('{"kind":"warn')
    journal = opened(tmp_path)
    journal.note(run_events.Warned(at="now", text="x"))
    assert events.read_text().splitlines()[0] == '{"kind":"warn'
    assert len(events.read_text().splitlines()) == 2


def test_events_that_grew_too_many_are_set_aside(tmp_path: Path) -> None:
    opened(tmp_path).close()
    events = tmp_path / ".aot" / "events.jsonl"
    with events.open("wb") as file:
        file.truncate(journals.MOST_BYTES + 1)
    opened(tmp_path).close()
    assert events.stat().st_size == 0
    assert (tmp_path / ".aot" / "old-events.jsonl").exists()


def test_events_of_a_long_run_become_old_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "MOST_BYTES", 2_000)
    journal = journals.Journal(tmp_path)
    journal.open()
    for number in range(200):
        journal.note(run_events.Warned(at="2026-03-03T12:00:00Z", text=f"the {number}th"))
    journal.close()
    sizes = {path.name: path.stat().st_size for path in (tmp_path / ".aot").glob("*events.jsonl")}
    assert sizes.keys() == {"events.jsonl", "old-events.jsonl"}
    assert max(sizes.values()) < 2_200
    assert "the 199th" in (tmp_path / ".aot" / "events.jsonl").read_text()


def test_records_of_a_run_are_found_in_the_order_of_attempts(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for record in (a_record("B", 10), a_record("A", 2), a_record("C", 3, run_id="other")):
        journal.keep(record)
    assert [one.attempt for one in journal.records("r1")] == [2, 10]
    assert journal.last_attempt() == 10


def test_what_was_used_is_evidence_and_no_record_any_more(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    record = a_record(work=Work(commit="c", attempt=1))
    journal.keep(record)
    journal.use(record)
    journal.use(record)
    assert journal.records("r1") == []
    assert [path.name for path in (tmp_path / ".aot" / "attempts" / "A1-1").iterdir()] == ["used.json"]
    assert journal.last_attempt() == 1


def test_ids_of_any_kind_have_a_folder_of_their_own(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    for atom in ("../../x", "a/b", "ü 1", "x" * 500, "."):
        journal.keep(a_record(atom))
    assert {one.atom for one in journal.records("r1")} == {"../../x", "a/b", "ü 1", "x" * 500, "."}
    assert all(path.parent == tmp_path / ".aot" / "attempts" for path in (tmp_path / ".aot" / "attempts").iterdir())


def test_a_record_that_cannot_be_read_is_as_good_as_lost(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.keep(a_record("A", 1))
    (tmp_path / ".aot" / "attempts" / "A-1" / "record.json").write_text("{")
    assert journal.records("r1") == []


def test_a_journal_that_cannot_be_written_is_told_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".aot").write_text("in the way")
    journal = opened(tmp_path)
    journal.note(run_events.Warned(at="now", text="x"))
    journal.keep(a_record())
    assert journal.records("r1") == []
    assert journal.problem is not None
    assert journal.problem.startswith("the journal in .aot is not complete: ")


def test_a_link_in_the_place_of_the_events_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / ".aot").mkdir()
    (tmp_path / ".aot" / "events.jsonl").symlink_to(tmp_path / "precious")
    (tmp_path / "precious").write_text("kept")
    journal = opened(tmp_path)
    journal.note(run_events.Warned(at="now", text="x"))
    assert (tmp_path / "precious").read_text() == "kept"
    assert journal.problem is not None


def test_text_that_no_json_can_hold_costs_one_line(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.note(run_events.Warned(at="now", text="half \ud800"))
    journal.note(run_events.Warned(at="now", text="whole"))
    assert len((tmp_path / ".aot" / "events.jsonl").read_text().splitlines()) == 1
    assert journal.problem == "the journal in .aot is not complete: something was no valid text"


def test_a_record_is_not_written_through_a_link_that_an_agent_left(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.open()
    theirs = tmp_path / "theirs"
    theirs.write_text("theirs")
    folder = journal.attempt_folder("A1", 1)
    folder.mkdir(parents=True)
    (folder / ".record.json").symlink_to(theirs)
    journal.keep(a_record())
    assert theirs.read_text() == "theirs"
    assert [one.atom for one in journal.records("r1")] == ["A1"]
    journal.close()


def test_a_record_has_only_text_that_a_file_can_hold(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.open()
    journal.keep(a_record(summary="half \udc80 a letter"))
    assert [one.summary for one in journal.records("r1")] == ["half \\udc80 a letter"]
    journal.close()
