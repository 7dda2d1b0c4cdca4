"""Whatever a person does wrong is answered in one or two lines and an exit code; never with a traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from aotloop.cli.error_handler import guarded
from aotloop.errors import AotError
from tests.cli.terminal import Ran, aot, spawn
from tests.loops import a_loop, atom, write_loop
from tests.warm import COMMAND

MISTAKES = [
    (["nope"], 2, "No such command 'nope'"),
    (["vrify"], 2, "Did you mean 'verify'?"),
    (["atom", "strat", "A1"], 2, "No such command 'strat'"),
    (["status", "--jsno"], 2, "--jsno"),
    (["run", "--max-iterations", "0"], 2, "0 is too small: the least is 1."),
    (["serve", "--port", "70000"], 2, "70000 is not between 0 and 65535."),
    (["completion"], 2, "Choose from: bash, zsh, fish"),
    (["status", "extra"], 2, "unexpected extra argument"),
    (["atom", "start"], 2, "Missing argument 'ATOM'"),
    (["atom", "fail", "A1"], 2, "Missing option '--reason'"),
    (["atom", "decompose", "A1", "--reason", "x"], 2, "Missing option '--child'"),
    (["verify", "--timeout", "0"], 2, "not a number above 0"),
    (["verify", "--timeout", "-1"], 2, "not a number above 0"),
    (["verify", "--timeout", "nan"], 2, "not a number above 0"),
    (["gate", "--timeout", "soon"], 2, "not a number above 0"),
    (["graph", "--format", "png"], 2, "'png' is not one of"),
    (["init", "--prompt", "nope.md"], 2, "No such file"),
    (["atom", "start", "Z"], 1, "there is no atom Z"),
    (["atom", "resolve", "A1"], 1, "A1 is pending"),
    (["status", "--state-file", "nope.md"], 1, "nope.md"),
    (["status", "--state-file", "."], 1, "is not a regular file"),
    (["validate", "--state-file", "with\nline break"], 1, "with\\nline break"),
    (["init", "--force", "--state-file", "."], 1, "is not a regular file"),
    (["init", "--state-file", "file/in/a/file.md"], 1, "Not a directory"),
]


def assert_short(ran: Ran) -> None:
    lines = ran.err.splitlines()
    assert 1 <= len(lines) <= 2, ran.err
    assert lines[0].startswith("aot: ")
    assert all(line.startswith("     ") for line in lines[1:])
    assert "Traceback" not in ran.err
    assert "bug" not in ran.err


@pytest.mark.parametrize(("words", "code", "told"), MISTAKES, ids=[" ".join(words) for words, _, _ in MISTAKES])
def test_a_mistake_is_answered_in_one_or_two_lines(project: Path, words: list[str], code: int, told: str) -> None:
    write_loop(project, a_loop(atom("A1")))
    (project / "file").touch()
    ran = aot(*words)
    assert ran.code == code
    assert told in ran.err
    assert ran.out == ""
    assert_short(ran)
    as_json = aot(*words, "--json")
    assert as_json.code == code
    assert set(as_json.json) == {"error", "hint"}
    assert as_json.json["error"]


def test_errors_of_usage_say_where_to_look(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    ran = aot("atom", "fail", "A1", "--json")
    assert ran.json == {"error": "Missing option '--reason'.", "hint": "`aot atom fail --help` shows its use."}


def test_a_word_after_two_dashes_is_no_option(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    ran = aot("atom", "start", "--", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert "there is no atom --json" in ran.err


@pytest.mark.usefixtures("project")
def test_a_folder_without_a_loop_says_how_to_make_one() -> None:
    for words in (["status"], ["validate"], ["gate"], ["verify"], ["graph"], ["log"], ["atom", "list"]):
        ran = spawn(*words, "--json") if words == ["status"] else aot(*words, "--json")
        assert ran.code == 1
        assert "aot-loop-state.md" in ran.json["error"]
        assert "aot align" in ran.json["hint"]


def test_a_file_that_cannot_be_understood_stops_every_command(project: Path) -> None:
    (project / ".claude" / "aot-loop-state.md").write_text("---\natoms: [\n---\n")
    for words in (
        ["status"],
        ["verify"],
        ["graph"],
        ["log"],
        ["atom", "start", "A1"],
        ["or", "select", "g", "A1", "--reason", "x"],
    ):
        ran = aot(*words)
        assert ran.code == 1
        assert "line 3" in ran.err
        assert_short(ran)


def test_file_names_need_not_be_text(project: Path) -> None:
    for words in ([b"status"], [b"init"]):
        ran = spawn(*words, b"--state-file", b"\xff/state.md", b"--json")
        assert ran.json
        assert "Traceback" not in ran.err
    assert Path(os.fsdecode(os.fsencode(project) + b"/\xff/state.md")).is_file()
    assert spawn(b"verify", b"--state-file", b"\xff/state.md").code == 1


# --- what may not be written -------------------------------------------------------------------------------------


def without_privileges() -> list[str]:
    """What to put before a command so that permissions count, even for root."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_a_folder_that_may_not_be_written_can_be_read(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    before = path.read_bytes()
    command = [*without_privileges(), COMMAND]
    path.parent.chmod(0o555)
    try:
        reading = subprocess.run([*command, "status"], capture_output=True, text=True, check=False)
        writing = subprocess.run([*command, "atom", "start", "A1"], capture_output=True, text=True, check=False)
    finally:
        path.parent.chmod(0o755)
    assert reading.returncode == 0
    assert writing.returncode == 1
    assert "cannot be written: Permission denied" in writing.stderr
    assert_short(Ran(writing.returncode, writing.stdout, writing.stderr))
    assert path.read_bytes() == before


def test_a_file_that_may_not_be_read_is_one_line(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    command = [*without_privileges(), COMMAND]
    path.chmod(0)
    for words in (["status"], ["atom", "start", "A1"], ["gate"]):
        done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "cannot be read: Permission denied" in done.stderr
        assert_short(Ran(done.returncode, done.stdout, done.stderr))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (AotError("the file is gone", hint="Look for it."), "aot: the file is gone\n     Look for it.\n"),
        (OSError(28, "No space left on device", "x"), "aot: x: No space left on device\n"),
    ],
)
def test_expected_errors_of_tasks_side_by_side_are_no_bug(
    error: Exception, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: Sequence[str]) -> int:
        raise ExceptionGroup("tasks", [ExceptionGroup("more", [error])])

    assert guarded(run, []) == 1
    assert capsys.readouterr().err.startswith(told)
