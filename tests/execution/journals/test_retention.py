"""A long run does not fill the disk: old prompts and transcripts go, and records that are needed stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.execution import run_events
from aotloop.execution.journals import journal as journals
from aotloop.execution.journals.journal import Journal
from aotloop.execution.journals.retention import Retention
from tests.execution.journals.test_journal import a_record

KILOBYTES_OF_A_TRANSCRIPT = 20


def an_attempt(journal: Journal, atom: str, number: int, *, is_used: bool = True) -> None:
    record = a_record(atom, number)
    journal.keep(record)
    folder = journal.attempt_folder(atom, number)
    (folder / "transcript.jsonl").write_bytes(b"x" * 1000 * KILOBYTES_OF_A_TRANSCRIPT)
    if is_used:
        journal.use(record)


def bytes_in(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())


def test_a_long_run_keeps_to_its_bytes(tmp_path: Path) -> None:
    journal = Journal(tmp_path, max_mb=1)
    journal.open()
    for number in range(1, 401):
        an_attempt(journal, f"A{number % 50}", number)
    attempts = tmp_path / ".aot/attempts"
    assert bytes_in(attempts) < 1_200_000  # without it: eight million
    assert len(list(attempts.iterdir())) == 400  # the records stay
    whole = {path.parent.name for path in attempts.glob("*/transcript.jsonl")}
    assert {f"A{number % 50}-{number}" for number in range(381, 401)} <= whole
    assert "A1-1" not in whole
    assert journal.last_attempt() == 400


def test_what_waits_to_be_used_is_never_touched(tmp_path: Path) -> None:
    journal = Journal(tmp_path, max_mb=1)
    journal.open()
    an_attempt(journal, "A0", 1, is_used=False)
    for number in range(2, 200):
        an_attempt(journal, "A1", number)
    assert (tmp_path / ".aot/attempts/A0-1/transcript.jsonl").exists()
    assert [record.attempt for record in journal.records("r1")] == [1]


def test_a_later_run_counts_what_earlier_ones_left(tmp_path: Path) -> None:
    for first in (1, 101, 201):
        journal = Journal(tmp_path, max_mb=1)
        journal.open()
        for number in range(first, first + 100):
            an_attempt(journal, "A1", number)
    assert bytes_in(tmp_path / ".aot/attempts") < 1_200_000


def test_above_their_number_folders_go_but_not_the_last_of_an_atom(tmp_path: Path) -> None:
    retention = Retention(tmp_path, "used.json", 10**9, most_folders=50)
    for number in range(1, 201):
        folder = tmp_path / f"A{number % 10 if number > 20 else 'old'}-{number}"
        folder.mkdir()
        (folder / "used.json").write_text("{}")
        retention.add(folder.name)
    left = {path.name for path in tmp_path.iterdir()}
    assert len(left) <= 50
    assert "Aold-20" in left
    assert {f"A{number % 10}-{number}" for number in range(191, 201)} <= left


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "used.json").write_text("{}")
    (outside / "precious").write_text("x")
    attempts = tmp_path / "attempts"
    attempts.mkdir()
    (attempts / "A0-0").symlink_to(outside)
    few, many = Retention(attempts, "used.json", 0, most_folders=10), Retention(attempts, "used.json", 0)
    for number in range(1, 60):
        folder = attempts / f"A1-{number}"
        folder.mkdir()
        (folder / "used.json").write_text("{}")
        (folder / "link").symlink_to(outside)
        many.add(folder.name)
    assert len(list(attempts.glob("A1-*/link"))) == 20
    few.add("A1-59")
    assert (outside / "precious").exists()
    assert len(list(attempts.iterdir())) <= 11


def test_events_of_a_long_run_are_rotated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "MOST_BYTES", 10_000)
    journal = Journal(tmp_path)
    journal.open()
    for number in range(1000):
        journal.note(run_events.Warned(at="now", text=f"{number} {'x' * 100}"))
    assert bytes_in(tmp_path / ".aot") < 2 * 10_000 + 500
    journal.close()
