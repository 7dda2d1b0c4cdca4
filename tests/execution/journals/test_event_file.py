"""Files that somebody else writes are followed whatever happens to them, and nothing in them is trusted."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from aotloop.execution.journals.event_file import EventsFile, is_passed_on, news_of
from aotloop.execution.journals.file_tail import LONGEST_LINE, FollowedLines, last_bytes
from aotloop.execution.run_events import AtomsAdded, RunBegan, Verifying
from tests.cli.live.running import AT, Project, a_beginning
from tests.loops import a_loop, atom, write_loop

HOSTILE_LINES = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"run_began"',
    b'{"kind":"run_began"}',
    b'{"kind":"attempt_began","at":3}',
    b'{"kind":"new","at":"x"}',
    b"\xff\xfe\x00",
    b"\x1b[2J\x07",
    b'{"kind":"added","at":"\xff","atoms":[]}',
    b"[" * 100_000,
    b'{"kind":' * 100_000,
    b"x" * 1_000_000,
]


def a_project(project: Path) -> Project:
    return Project(write_loop(project, a_loop(atom("A1"), atom("A2"))))


def added(name: str) -> AtomsAdded:
    return AtomsAdded(at=AT, atoms=(name,))


def names(lines: list[bytes]) -> list[str]:
    return [one.atoms[0] for one in map(news_of, lines) if isinstance(one, AtomsAdded)]


# --- lines -------------------------------------------------------------------------------------------------------


def test_only_whole_lines_are_handed_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    followed = FollowedLines(path)
    assert followed.fresh() == []
    with path.open("ab", buffering=0) as file:
        file.write(b"one\ntw")
        assert followed.fresh() == [b"one"]
        assert followed.fresh() == []
        file.write(b"o\n\nthree\n")
        assert followed.fresh() == [b"two", b"three"]


def test_a_file_that_is_cut_off_replaced_or_removed_is_read_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log"
    followed = FollowedLines(path)
    path.write_bytes(b"a longer line\nhalf")
    assert followed.fresh() == [b"a longer line"]
    path.write_bytes(b"short\n")
    assert followed.fresh() == [b"short"]
    path.rename(tmp_path / "old")
    assert followed.fresh() == []
    path.write_bytes(b"another file\n")
    assert followed.fresh() == [b"another file"]
    (tmp_path / "new").write_bytes(b"replaced by a longer one\n")
    (tmp_path / "new").rename(path)
    assert followed.fresh() == [b"replaced by a longer one"]


def test_what_is_no_file_is_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "loop", tmp_path / "none", Path("/dev/zero"), Path("a\0b")):
        assert FollowedLines(path).fresh() == []
        assert last_bytes(path, 100) == (b"", 0)


def test_a_line_without_an_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * (LONGEST_LINE + 1))
    followed = FollowedLines(path)
    assert followed.fresh() == []
    assert followed._begun == b""


def test_the_end_of_a_file_begins_with_a_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\ntwo\nthree\n")
    assert last_bytes(path, 100) == (b"one\ntwo\nthree\n", 0)
    assert last_bytes(path, 8) == (b"three\n", 8)


def test_the_end_of_a_file_may_begin_at_the_same_line_for_a_while(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    begins = []
    for number in range(40):
        with path.open("a") as file:
            file.write(f"line {number:04}\n")
        data, begin = last_bytes(path, 100, grain=100)
        assert data.endswith(f"line {number:04}\n".encode())
        assert len(data) <= 200
        begins.append(begin)
    assert len(set(begins)) == 4


# --- news --------------------------------------------------------------------------------------------------------


def test_the_last_run_is_found(project: Path) -> None:
    run = a_project(project)
    run.tell(added("before"), a_beginning(), added("first"), a_beginning(), added("second"))
    events = EventsFile(str(run.state_file))
    events.start_at_last_run(None)
    lines = events.fresh()
    assert isinstance(news_of(lines[0]), RunBegan)
    assert names(lines) == ["second"]
    run.tell(added("third"))
    assert names(events.fresh()) == ["third"]


def test_words_about_a_beginning_are_none(project: Path) -> None:
    run = a_project(project)
    run.tell(a_beginning(), added('"run_began"'), added('{"kind":"run_began"}'))
    run.append(b'{"kind":"warning","text":"run_began"}', b'"run_began"', b'{"run_began":1')
    events = EventsFile(str(run.state_file))
    events.start_at_last_run(None)
    assert isinstance(news_of(events.fresh()[0]), RunBegan)


def test_news_of_a_run_before_are_not_those_of_the_run_that_is_watched(project: Path) -> None:
    run = a_project(project)
    run.tell(a_beginning(pid=1), added("old"))
    events = EventsFile(str(run.state_file))
    events.start_at_last_run(2)
    run.tell(a_beginning(pid=2), added("new"))
    assert names(events.fresh()) == ["new"]


def test_without_any_beginning_everything_is_news_if_nobody_runs(project: Path) -> None:
    run = a_project(project)
    run.tell(added("one"))
    events = EventsFile(str(run.state_file))
    events.start_at_last_run(None)
    assert names(events.fresh()) == ["one"]


def test_lines_that_are_no_news_are_left_out(project: Path) -> None:
    run = a_project(project)
    run.append(*HOSTILE_LINES)
    run.tell(a_beginning(), added("one"))
    run.append(*HOSTILE_LINES)
    run.tell(Verifying(at=AT))
    events = EventsFile(str(run.state_file))
    events.start_at_last_run(None)
    lines = events.fresh()
    assert [type(one).__name__ for one in map(news_of, lines) if one is not None] == [
        "RunBegan",
        "AtomsAdded",
        "Verifying",
    ]
    assert [msgspec.json.decode(line)["kind"] for line in lines if is_passed_on(line)] == [
        "run_began",
        "added",
        "run_began",
        "attempt_began",
        "new",
        "verifying",
    ]


# --- attempts ----------------------------------------------------------------------------------------------------


def test_the_attempts_at_an_atom_are_found_with_what_they_printed(project: Path) -> None:
    run = a_project(project)
    run.begin("A1", 1)
    run.begin("A2", 2)
    run.begin("A1", 3)
    run.printed("A1", 3, "one", "", "\x1b[31mtwo\x1b[0m", "10%\r50%\r100%")
    run.printed("A1", 3, "the end", stream="note")
    events = EventsFile(str(run.state_file))
    first, last = events.attempts_at("A1")
    assert (first.attempt, last.attempt) == (1, 3)
    assert events.output_of(last.folder, 10) == ["one", "two", "100%"]
    assert events.output_of(last.folder, 1) == ["100%"]
    assert events.output_of(first.folder, 10) == []


def test_a_very_long_last_line_is_still_found(project: Path) -> None:
    run = a_project(project)
    run.begin("A1", 1)
    run.printed("A1", 1, "x" * 100_000)
    [line] = EventsFile(str(run.state_file)).output_of(".aot/attempts/A1-1", 5)
    assert line.startswith("xxx")
    assert len(line) < 300


def test_a_transcript_of_anything_is_no_error(project: Path) -> None:
    run = a_project(project)
    run.begin("A1", 1)
    path = run.root / ".aot" / "attempts" / "A1-1" / "transcript.jsonl"
    path.write_bytes(b"\n".join([*HOSTILE_LINES, b'{"stream":"stdout","text":"good"}', b'{"stream":"stdout","te']))
    assert EventsFile(str(run.state_file)).output_of(".aot/attempts/A1-1", 5) == ["good"]


def test_journals_are_only_looked_for_where_journals_are(project: Path) -> None:
    run = a_project(project)
    run.begin("A1", 1)
    secret = project.parent / "secret"
    secret.mkdir()
    (secret / "transcript.jsonl").write_bytes(b'{"stream":"stdout","text":"secret"}\n')
    (project / ".aot" / "attempts" / "link").symlink_to(secret)
    events = EventsFile(str(run.state_file))
    for folder in ("../secret", str(secret), ".aot/attempts/link", ".aot/../../secret", "", "a\0b", "x" * 5000, ".."):
        assert events.folder_of(folder) is None
        assert events.output_of(folder, 5) == []
    assert events.folder_of(".aot/attempts/A1-1") == (project / ".aot/attempts/A1-1").resolve()
