"""Work reaches the branch by one loop: merged, checked if the branch moved, landed in one step; or it says why not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.integrator import BranchSteps, integrate, without_waiting
from aotloop.execution.integration.outcome import Blocked, Conflicting, Landed, Moved, Outcome, Ready, Refused, Unwanted
from aotloop.execution.integration.protection import protection_of, words_for
from aotloop.execution.journals.records import Work
from aotloop.git.commits.objects import ATOM, ATTEMPT, RUN
from aotloop.git.repository import Repository, find_repository
from tests.runner.projects import Project, a_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return a_project(tmp_path, files={"shared": "1\n"})


def repository_of(project: Project) -> Repository:
    found = find_repository(project.root)
    assert found is not None
    return found


def work_of(project: Project, name: str, text: str) -> Work:
    """A commit on top of what is checked out, on no branch."""
    before = project.git("rev-parse", "HEAD")
    (project.root / name).write_text(text)
    project.git("add", name)
    trailers = f"{ATOM}: A1\n{ATTEMPT}: 1\n{RUN}: r"
    project.git("commit", "--quiet", f"--message=A1: {name}\n\n{trailers}")
    commit = project.git("rev-parse", "HEAD")
    project.git("reset", "--quiet", "--hard", before)
    return Work(commit=commit, base=before, is_checked=True, attempt=1)


def commit_here(project: Project, name: str, text: str) -> None:
    (project.root / name).write_text(text)
    project.git("add", name)
    project.git("commit", "--quiet", "--message=a person's")


class Watched(BranchSteps):
    """Counts its steps; `between` is done before it lands for the first time."""

    def __init__(self, branch: Branch, work: Work, between: Callable[[], object] = lambda: None) -> None:
        super().__init__(branch, work, "r")
        self.steps: list[str] = []
        self._between = between

    async def prepare(self) -> Ready | Landed | Conflicting:
        self.steps.append("prepare")
        return await super().prepare()

    async def check(self, ready: Ready) -> Refused | None:
        self.steps.append("check" if ready.needs_check else "no check")
        return None

    async def land(self, ready: Ready) -> Landed | Moved | Blocked | Unwanted:
        if "land" not in self.steps:
            self._between()
        self.steps.append("land")
        return await super().land(ready)


def outcome_of(steps: BranchSteps) -> Outcome:
    return asyncio.run(integrate(steps))


def test_work_on_top_of_the_branch_lands_as_it_is_and_without_another_check(project: Project) -> None:
    work = work_of(project, "mine", "1\n")
    steps = Watched(Branch(repository_of(project)), work)
    assert outcome_of(steps) == Landed(work.commit or "")
    assert steps.steps == ["prepare", "no check", "land"]
    assert (project.root / "mine").read_text() == "1\n"


def test_what_landed_before_is_not_landed_twice(project: Project) -> None:
    work = work_of(project, "mine", "1\n")
    branch = Branch(repository_of(project))
    landed = outcome_of(Watched(branch, work))
    steps = Watched(branch, work)
    assert outcome_of(steps) == landed
    assert steps.steps == ["prepare"]


def test_a_branch_that_moves_meanwhile_is_merged_with_and_what_lands_is_checked(project: Project) -> None:
    work = work_of(project, "mine", "1\n")
    steps = Watched(Branch(repository_of(project)), work, lambda: commit_here(project, "theirs", "2\n"))
    assert isinstance(outcome_of(steps), Landed)
    assert steps.steps == ["prepare", "no check", "land", "prepare", "check", "land"]
    assert project.files() >= {"mine", "theirs"}


def test_a_conflict_names_the_paths(project: Project) -> None:
    work = work_of(project, "shared", "mine\n")
    commit_here(project, "shared", "theirs\n")
    outcome = outcome_of(Watched(Branch(repository_of(project)), work))
    assert outcome == Conflicting(paths=("shared",), names=())


def test_what_its_check_refuses_does_not_land(project: Project) -> None:
    work = work_of(project, "mine", "1\n")
    before = project.git("rev-parse", "HEAD")

    class Refusing(Watched):
        async def check(self, ready: Ready) -> Refused | None:
            return Refused(reason="it does not pass", head=ready.head)

    assert outcome_of(Refusing(Branch(repository_of(project)), work)) == Refused(reason="it does not pass", head=before)
    assert project.git("rev-parse", "HEAD") == before


def test_a_file_of_a_person_blocks_it_and_stays(project: Project) -> None:
    work = work_of(project, "mine", "1\n")
    (project.root / "mine").write_text("a person's\n")
    outcome = outcome_of(Watched(Branch(repository_of(project)), work))
    assert isinstance(outcome, Blocked)
    assert outcome.paths == ("mine",)
    assert (project.root / "mine").read_text() == "a person's\n"


def test_a_git_process_that_is_busy_is_waited_for_without_another_check(project: Project) -> None:
    work = work_of(project, "mine", "1\n")
    lock = project.root / ".git" / "index.lock"

    class Busy(Watched):
        async def pause(self, seconds: float) -> None:
            lock.unlink(missing_ok=True)
            await super().pause(seconds)

    steps = Busy(Branch(repository_of(project)), work, lock.touch)
    assert isinstance(outcome_of(steps), Landed)
    assert steps.steps == ["prepare", "no check", "land", "land"]


def test_steps_that_block_need_no_event_loop() -> None:
    class Blocking:
        async def prepare(self) -> str | Landed | Conflicting:
            return "ready"

        async def check(self, ready: str) -> Refused | None:
            assert ready == "ready"
            return None

        async def land(self, ready: str) -> Landed | Moved | Blocked | Unwanted:
            return Landed(f"{ready} and landed")

        async def pause(self, seconds: float) -> None:
            raise AssertionError(seconds)

    assert without_waiting(integrate(Blocking())) == Landed("ready and landed")


def test_files_of_both_loops_and_what_the_objective_protects_are_closed(project: Project) -> None:
    protection = protection_of(("tests/**",), str(project.state_file), str(project.root))
    changed = (
        ".claude/aot-loop-state.md",
        "sub/.claude/autonomous-loop.json",
        ".aot/events.jsonl",
        "tests/a.py",
        "src",
    )
    assert protection.refused(changed, "") == changed[:-1]
    assert words_for(changed[:1]) == "it changed what no attempt may change: .claude/aot-loop-state.md"
