"""The base case runs code that agents wrote, in the checkout: what it changes there makes the verdict undecided."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.core.model import Constraints
from aotloop.exit_codes import PERSON_NEEDED
from aotloop.process.sandbox.engine import why_not_bwrap
from tests.loops import atom
from tests.runner.projects import Project, a_project

ONCE = Constraints(max_total_attempts=2, max_iterations=3)


def landed(tmp_path: Path, build: str, **environ: str) -> Project:
    """`build.sh` lands; the base case runs it, and then a protected test that never holds."""
    (tmp_path / "build.sh").write_text(f"test -f a || exit 1\n{build}")
    return a_project(
        tmp_path,
        atom("A1", run=f"cp {tmp_path}/build.sh build.sh; touch a"),
        base_case="sh build.sh && sh tests/t.sh",
        files={"tests/t.sh": "exit 1\n", ".gitignore": "build\n"},
        constraints=ONCE,
        protect=("tests/**",),
        environ={"AOT_CONFINE": "auto", **environ},
    )


def test_a_check_that_commits_a_weakened_test_completes_nothing(tmp_path: Path) -> None:
    project = landed(tmp_path, "echo 'exit 0' > tests/t.sh; git commit -qam weaken; exit 0\n")
    ran = project.run()
    assert ran.code == PERSON_NEEDED, ran.out
    assert project.loop.control.status == "stopped"
    verdict = project.loop.control.verdict
    assert verdict is not None
    assert verdict.undecided
    assert not verdict.passed


@pytest.mark.skipif(why_not_bwrap() is not None, reason="bubblewrap cannot be used here")
def test_a_check_that_exchanges_a_protected_test_and_puts_it_back_completes_nothing(tmp_path: Path) -> None:
    put_back = "exec sh -c 'sh tests/t.sh && cp -p build/t.sh tests'"
    swap = f"mkdir -p build; cp -p tests/t.sh build/; echo 'exit 0' > tests/t.sh; {put_back}\n"
    project = landed(tmp_path, swap, AOT_SANDBOX="bwrap")
    ran = project.run()
    assert ran.code == PERSON_NEEDED, ran.out
    assert "changed while its commands ran: tests/t.sh" in ran.out
    assert project.is_clean()


def test_settings_of_git_that_a_check_changed_are_put_back_and_the_run_does_not_complete(tmp_path: Path) -> None:
    evil = "git config core.editor evil; printf 'exit 0' > tests/t.sh; sh tests/t.sh; printf 'exit 1\\n' > tests/t.sh\n"
    project = landed(tmp_path, evil)
    ran = project.run()
    assert ran.code == PERSON_NEEDED, ran.out
    assert ".git/config" in ran.out
    assert "evil" not in (project.root / ".git/config").read_text()


def test_a_completed_loop_that_later_commits_broke_is_not_done(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    assert project.run().code == 0
    assert project.run().code == 0
    project.git("rm", "-q", "a")
    project.git("commit", "-qm", "broken")
    assert project.run().code == PERSON_NEEDED
    again = project.aot("run", "--yes")
    assert "later commits broke what was completed" in again.out + again.err
