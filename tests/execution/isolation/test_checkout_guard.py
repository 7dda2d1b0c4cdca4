"""Where the kernel does not keep agents out, an attempt that changed the checkout fails, and all is put back (§7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.core.model import Constraints
from tests.loops import atom
from tests.patience import PATIENCE, shell_until, until
from tests.runner.agents import Order, done, finds, scripted
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project


def once_each(atoms: int) -> Constraints:
    """As many attempts as there are atoms: nothing is tried again before all were tried."""
    return Constraints(max_total_attempts=atoms)


MINE = "mine, not committed\n\0\r\n"
EDITED = "a project, edited by me\n"


def says(command: str) -> str:
    """As clients do, it prints what it runs."""
    return f"cat <<'EOF'\n$ {command}\nEOF\n({command})"


TRESPASSES = {
    "a tracked file": ("echo x > {root}/kept", "kept"),
    "a tracked file, staged": ("echo x > {root}/kept; git -C {root} add kept", "kept"),
    "a tracked file, removed": ("rm {root}/kept", "kept"),
    "a tracked file, made executable": ("chmod +x {root}/kept", "kept"),
    "a tracked file, as a link": ("ln -sf /etc/passwd {root}/kept", "kept"),
    "a new file": ("mkdir -p {root}/new; echo x > {root}/new/file", "new/file"),
    "a person's new file": ("echo x > {root}/notes", "notes"),
    "a person's new file, removed": ("rm {root}/notes", "notes"),
    "a person's edit": ("echo x > {root}/README.md", "README.md"),
    "a person's edit, taken back": ("git -C {root} checkout -q README.md", "README.md"),
    "a commit": ("git -C {root} commit -q --allow-empty -m mine", "HEAD"),
    "a commit of everything": ("cd {root}; git add README.md notes; git commit -qm README.md,notes", "HEAD"),
    "another branch": ("git -C {root} checkout -q -b other", "HEAD"),
    "a hook": ("echo x > {root}/.git/hooks/pre-commit", ".git/hooks/pre-commit"),
    "a setting": (": .git/config; git -C {root} config core.hooksPath /tmp", ".git/config"),
}


def facts(project: Project) -> dict[str, object]:
    top = project.root
    files = {path: path.read_bytes() for path in top.iterdir() if path.is_file()}
    return {
        "files": files,
        "modes": {path: path.lstat().st_mode for path in files},
        "status": project.git("status", "--porcelain=v2", "--untracked-files=all", "--", ".", ":!.claude"),
        "head": (project.git("rev-parse", "HEAD"), project.git("symbolic-ref", "HEAD")),
        "settings": (top / ".git" / "config").read_bytes(),
        "hooks": sorted(path.name for path in (top / ".git" / "hooks").iterdir()),
    }


def a_trespassed_project(folder: Path, orders: dict[str, list[Order]]) -> Project:
    project = a_project(
        folder,
        *(atom(name.rstrip("?"), probe=name.endswith("?")) for name in orders if f"{name}?" not in orders),
        base_case="false",
        files={"kept": "as it is\n"},
        config=scripted(folder, orders),
        constraints=once_each(len(orders)),
    )
    (project.root / "README.md").write_text(EDITED)
    (project.root / "notes").write_text(MINE)
    return project


@pytest.mark.parametrize("what", TRESPASSES)
def test_an_attempt_that_changes_the_checkout_has_failed_and_the_checkout_is_as_before(
    tmp_path: Path, what: str
) -> None:
    command, named = TRESPASSES[what]
    command = command.format(root=tmp_path / "project")
    project = a_trespassed_project(tmp_path, {"A1": [done({"half": "x"}, run=says(command))]})
    before = facts(project)
    ran = project.run("--allow-dirty")
    assert ran.code == 5, ran.out + ran.err
    assert "it changed the checkout itself" in project.loop.trail[0].reason
    assert named in project.loop.trail[0].reason
    assert facts(project) == before
    assert project.subjects() == []
    warnings = " ".join(one["text"] for one in ran.kinds("warning"))
    assert "put back to what it was" in warnings
    kept = next(project.root.glob(".aot/attempts/A1-*")) / "strayed"
    if named != "HEAD" and "removed" not in what:
        assert (kept / named).exists() or (kept / named).is_symlink(), "what it had done is kept"
    if what.startswith("a commit"):
        assert "mine" in project.git("log", "--all", "--format=%s") or what != "a commit"
        assert project.git("for-each-ref", "refs/aot/strayed")


def test_a_probe_that_changes_the_checkout_has_failed_too(tmp_path: Path) -> None:
    run = says(f"echo x > {tmp_path}/project/kept")
    project = a_trespassed_project(tmp_path, {"A1?": [finds("easy", run=run)]})
    before = facts(project)
    project.run("--allow-dirty")
    assert "it changed the checkout itself" in project.loop.trail[0].reason
    assert facts(project) == before


def test_of_two_attempts_at_once_only_the_one_that_did_it_fails(tmp_path: Path) -> None:
    root = tmp_path / "project"
    ended = shell_until(f"grep attempt_ended {root}/.aot/events.jsonl | grep -q A1")
    orders = {
        "A1": [done({"a": "a"}, touch=f"{tmp_path}/one", after=f"{tmp_path}/did")],
        "A2": [done(after=f"{tmp_path}/one", run=says(f"echo x > {root}/kept; touch {tmp_path}/did; {ended}"))],
    }
    project = a_trespassed_project(tmp_path, orders)
    before = facts(project)
    ran = project.run("--allow-dirty")
    assert ran.code == 5, ran.out
    assert project.statuses()["A1"] == "resolved"
    assert [entry.atom for entry in project.loop.trail if "it changed the checkout" in entry.reason] == ["A2"]
    assert project.subjects() == ["A1: do A1"]
    assert (root / "kept").read_text() == "as it is\n"
    assert (root / "notes").read_bytes() == MINE.encode()
    assert (root / "README.md").read_text() == EDITED
    assert project.git("status", "--porcelain", "kept") == ""
    assert before["settings"] == facts(project)["settings"]


def test_a_person_who_edits_and_commits_meanwhile_is_left_alone_and_nobody_is_blamed(tmp_path: Path) -> None:
    """Even though the agent speaks of the checkout, and another file of it."""
    say = f"cd {tmp_path}/project && cat kept"
    orders = {"A1": [done({"a": "a"}, touch=f"{tmp_path}/began", after=f"{tmp_path}/go", run=says(say))]}
    project = a_trespassed_project(tmp_path, orders)
    with project.running("--allow-dirty") as process:
        until((tmp_path / "began").exists)
        (project.root / "mine.txt").write_text("new\n")
        (project.root / "README.md").write_text("again\n")
        project.git("add", "notes")
        project.git("commit", "-qm", "by a person", "notes")
        (tmp_path / "go").touch()
        out, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 5
    assert project.statuses()["A1"] == "resolved"
    assert (project.root / "mine.txt").read_text() == "new\n"
    assert (project.root / "README.md").read_text() == "again\n"
    assert project.subjects() == ["by a person", "A1: do A1"]
    assert "was changed meanwhile, as it seems not by this attempt: README.md, mine.txt" in out


def test_an_attempt_that_changes_the_state_file_has_failed(tmp_path: Path) -> None:
    lie = 'echo "sed on $AOT_STATE_FILE"; sed -i "s/do A2/do nothing/" "$AOT_STATE_FILE"'
    orders = {"A1": [done({"half": "x"}, run=f"{lie}; sleep 0.2")], "A2": [done({"b": "b"})]}
    project = a_project(
        tmp_path,
        atom("A1"),
        atom("A2"),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=once_each(2),
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    reasons = {entry.atom: entry.reason for entry in project.loop.trail}
    assert "it changed the state file of the loop" in reasons["A1"]
    assert "half" not in project.files()
    assert leftovers(project) == []


def test_ignored_files_stashes_and_branches_that_changed_are_named(tmp_path: Path) -> None:
    root = tmp_path / "project"
    change = f"cd {root}; echo x > .env; git branch -q other; git tag v1; git update-ref refs/stash HEAD"
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="test -f a",
        files={".gitignore": ".env\n"},
        config=scripted(tmp_path, {"A1": [done({"a": "a"}, run=change)]}),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    [told] = [one["text"] for one in ran.kinds("warning") if "not put back" in one["text"]]
    assert all(name in told for name in (".env", "refs/heads/other", "refs/tags/v1", "refs/stash")), told
