"""A disk that fails at any call: old or new, never half; said in words; and on disk when it is said to be.

The short version of `python -m faults disks runs`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from faults.disks import FAILED, KINDS, Case, calls_of, endured, limited
from faults.shim import CHANGING, Fault, Shim, why_not
from faults.subjects import SUBJECTS, Place, Subject, a_place

from faults import runs, worktrees
from tests.loops import atom
from tests.runner.leftovers import leftovers
from tests.runner.projects import a_project
from tests.runner.test_crash_recovery import with_git_that

BY_NAME = {one.name: one for one in SUBJECTS}
shimmed = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))


def struck(place: Place, subject: Subject, fault: Fault, library: Path) -> tuple[int, str]:
    shim = Shim(library, (place.project, place.home), place.folder / "count")
    done = place.run(subject.argv(place), shim.environ(fault), subject.told(place))
    return done.returncode, done.stdout + done.stderr


def picked() -> list[tuple[str, Subject, Fault]]:
    """Each fault once, each subject at least once."""
    faults = [(kind, fault) for kind, some in KINDS.items() for fault in some]
    return [(kind, SUBJECTS[number % len(SUBJECTS)], fault) for number, (kind, fault) in enumerate(faults)]


@shimmed
@pytest.mark.parametrize(("kind", "subject", "fault"), picked(), ids=lambda one: getattr(one, "name", str(one)))
def test_in_the_middle_of_the_calls_and_at_the_last(
    tmp_path: Path, library: Path, kind: str, subject: Subject, fault: Fault
) -> None:
    if fault.pause:
        assert endured(Case(kind, subject, fault), tmp_path / "slow", library) == ([], 0)
        return
    most = calls_of(subject, fault.calls, tmp_path / "count", library)
    assert most > 0
    for at in sorted({most // 2 + 1, most}):
        case = Case(kind, subject, Fault(fault.deed, at, fault.calls, fault.goes_on))
        assert endured(case, tmp_path / f"at-{at}", library) == ([], 0), case


@pytest.mark.parametrize("case", list(limited())[1::6], ids=str)
def test_files_that_may_not_grow(tmp_path: Path, case: Case) -> None:
    """It needs no compiler."""
    assert endured(case, tmp_path / "case", tmp_path) == ([], 0)


@shimmed
def test_every_kind_of_call_is_seen_by_the_shim(tmp_path: Path, library: Path) -> None:
    """Else all of this would prove nothing."""
    place = a_place(tmp_path / "place")
    script = "import os; os.mkdir('x'); f = open('x/a', 'w'); f.write('a' * 10); f.flush(); os.fsync(f.fileno()); "
    script += "os.ftruncate(f.fileno(), 2); os.rename('x/a', 'x/b'); print(open('x/b').read()); os.unlink('x/b')"
    for call in (*CHANGING, "read", "open"):
        shim = Shim(library, (place.project,), tmp_path / "count")
        done = place.run([sys.executable, "-c", script], shim.environ(Fault("ENOSPC", 1, (call,))))
        assert "No space left on device" in done.stderr, call
        place.run(["rm", "-rf", "x"])


@shimmed
def test_a_folder_that_cannot_be_synced_is_not_called_unchanged(tmp_path: Path, library: Path) -> None:
    """The file was replaced, and only the folder's fsync failed: it is said that it was changed, and that it failed."""
    place, subject = a_place(tmp_path / "place"), BY_NAME["aot atom start"]
    code, told = struck(place, subject, Fault("EIO", 2, ("sync",)), library)
    assert (code, subject.is_done(place)) == (FAILED, True)
    assert "it was changed, but a power failure may undo that" in told


@shimmed
def test_a_file_that_cannot_be_synced_is_not_reported_as_written(tmp_path: Path, library: Path) -> None:
    place, subject = a_place(tmp_path / "place"), BY_NAME["aot atom start"]
    before = place.state.read_bytes()
    code, told = struck(place, subject, Fault("EIO", 1, ("sync",)), library)
    assert (code, place.state.read_bytes()) == (FAILED, before)
    assert "it is as it was" in told


@shimmed
def test_scripts_say_what_the_system_refuses_and_what_to_do(tmp_path: Path, library: Path) -> None:
    """And do not take it for a bug of ours."""
    place, subject = a_place(tmp_path / "place"), BY_NAME["update_atom"]
    most = calls_of(subject, ("open", "create"), tmp_path / "count", library)
    told = [struck(place, subject, Fault("EMFILE", at, ("open", "create")), library) for at in range(1, most + 1)]
    assert {code for code, _ in told} <= {0, FAILED}
    errors = [json.loads(said)["error"] for code, said in told if code == FAILED]
    assert any("Too many open files\nToo many files are open; end some programs" in one for one in errors)
    assert not any("bug" in one for one in errors)


STRUCK = (
    Fault("torn", 1, ("write",), of="*/.git/aot/worktrees/*/path*"),
    Fault("kill", 1, ("create",), of="*/.git/aot/worktrees/*/index.lock"),
    Fault("kill", 2, ("rename",), of="*/.git/refs/heads/main"),
    Fault("EIO", 3, ("rename",), of="*/.claude/aot-loop-state.md"),
)
"""By their paths: which is the tenth call of a run whose processes work side by side is another one each time."""


@shimmed
@pytest.mark.parametrize("fault", STRUCK, ids=str)
def test_a_run_on_a_disk_that_fails_at_one_call_of_git_or_ours(tmp_path: Path, library: Path, fault: Fault) -> None:
    problems, lost, calls = runs.endured(tmp_path / "run", fault, library)
    assert (problems, lost) == ([], 0)
    assert calls >= fault.at


@shimmed
@pytest.mark.parametrize(("fault", "calls"), [(Fault("kill"), 12), (Fault("torn", calls=("write",)), 5)], ids=str)
def test_a_process_that_dies_while_it_registers_a_worktree_leaves_nothing_behind(
    tmp_path: Path, library: Path, fault: Fault, calls: int
) -> None:
    """Ours or git's, at each of its calls; `python -m faults worktrees` strikes all those that follow, too."""
    struck = replace(fault, of="*/.git/aot*")
    assert worktrees.calls_of(struck, tmp_path / "count", library) >= calls
    found = [worktrees.endured(replace(struck, at=at), tmp_path / str(at), library) for at in range(1, calls + 1)]
    assert [one for one in found if one] == []


GITS = {
    "half of a file": "printf A > all; kill -9 $$",
    "whole files": "printf 'A1\\n' > all; mkdir -p new; echo x > new/file; kill -9 $$",
    "its locks": "touch .git/ORIG_HEAD.lock .git/HEAD.lock .git/refs/heads/main.lock; kill -9 $$",
    "no room": "printf A > all; echo 'fatal: No space left on device' >&2; exit 128",
}
"""What a git leaves that fails or is killed in place of the first `git merge`, while the run lives on."""


@pytest.mark.parametrize("left", GITS)
def test_what_a_git_that_failed_left_is_taken_back(tmp_path: Path, left: str) -> None:
    """So that nobody has to, and nothing is lost or done twice."""
    work = "echo A1 > all; mkdir -p new; echo x > new/file; echo more >> README.md"
    project = a_project(
        tmp_path,
        atom("A1", run=f"{work}; echo x >> {tmp_path}/times"),
        base_case="test -f all",
        environ=with_git_that(tmp_path, "*--ff-only*", f"rm README.md; {GITS[left]}"),
    )
    assert project.run().code in (0, 6)
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert project.subjects() == ["A1: do A1"]
    assert (project.root / "README.md").read_text() == "a project\nmore\n"
    assert (tmp_path / "times").read_text() == "x\n"
    assert project.is_clean()
    assert leftovers(project) == []


def test_what_a_person_has_there_is_not_taken_for_gits(tmp_path: Path) -> None:
    """A file that is as the commit has it, but was there before; and one that is not as the commit has it."""
    theirs = tmp_path / "project" / "all"
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo A1 > all; echo b > b; echo A1 > {theirs}; sleep 0.1"),
        base_case="test -f all",
        environ=with_git_that(tmp_path, "*--ff-only*", "echo mine > b; exit 128"),
    )
    project.run("--allow-dirty")
    assert theirs.read_text() == "A1\n"
    assert (project.root / "b").read_text() == "mine\n"
