"""An agent cannot change the checkout, the state file, the journal or what git keeps of it: the kernel refuses (§7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.core.model import Constraints
from aotloop.process.sandbox import is_possible
from aotloop.process.sandbox.engine import why_not_bwrap
from tests.git.checkouts import write
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.agents import done, finds, scripted
from tests.runner.leftovers import kept, leftovers
from tests.runner.projects import Project, a_project

pytestmark = pytest.mark.skipif(not is_possible(), reason="this kernel has no Landlock")

CONFINED = {"AOT_CONFINE": "auto", "AOT_SANDBOX": "landlock"}
ONCE = Constraints(max_total_attempts=1)


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """A folder of its own: beside the way to the checkout, so that agents may write there."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


def everything(root: Path) -> dict[str, bytes]:
    """All that is in the checkout and could be changed by somebody else than the run itself."""
    return {str(path.relative_to(root)): path.read_bytes() for path in _files(root)}


def _files(root: Path) -> Iterator[Path]:
    ours = ("worktrees", "index", "aot")
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root).parts
        is_ours = inner[0] == ".aot" or (inner[0] == ".git" and len(inner) > 1 and inner[1].startswith(ours))
        if path.is_file() and not is_ours and path.name != "aot-loop-state.md":
            yield path


def attacks(root: Path) -> dict[str, str]:
    state = root / ".claude" / "aot-loop-state.md"
    return {
        "a tracked file": f"echo x >> {root}/README.md",
        "a tracked file, cut short": f"truncate -s 0 {root}/README.md",
        "a tracked file, by a link": f"ln -s {root}/README.md l; echo x > l; rm l",
        "a tracked file, by a hard link": f"ln {root}/README.md l; echo x > l; rm -f l",
        "a tracked file, moved away": f"mv {root}/README.md here; rm -f here",
        "a tracked file, removed": f"rm -f {root}/README.md",
        "a new file": f"echo x > {root}/new",
        "a person's file": f"echo x > {root}/notes.txt",
        "a new folder": f"mkdir {root}/folder",
        "the state file": f"echo x >> {state}",
        "the state file, replaced": f"echo x > mine; mv mine {state}; rm -f mine",
        "the state file, by its variable": 'sed -i s/pending/resolved/ "$AOT_STATE_FILE"',
        "the journal": f"echo x >> {root}/.aot/events.jsonl",
        "the whole journal": f"rm -rf {root}/.aot",
        "its settings of git": "git config core.hooksPath /tmp",
        "its settings of git, as a file": f"echo x >> {root}/.git/config",
        "a hook": f"echo x > {root}/.git/hooks/pre-commit",
        "the branch": f"git -C {root} commit -q --allow-empty -m mine",
        "the branch, from here": "git commit -q --allow-empty -m mine; git update-ref refs/heads/main HEAD",
        "another branch": f"git -C {root} checkout -q -b other",
        "the index": f"git -C {root} rm -q --cached README.md",
        "a reset": f"git -C {root} reset -q --hard HEAD~0; git -C {root} clean -fdq",
        "the stash": f"git -C {root} stash -u",
        "the history": f"rm -rf {root}/.git/objects",
        "the checkout itself": f"rm -rf {root}; mv {root} {root}-gone",
    }


def test_no_attempt_changes_anything_of_the_checkout_however_it_tries(tmp_path: Path) -> None:
    root = tmp_path / "project"
    orders = {what: [done({"half": "x"}, run=f"({command}); rm -f half")] for what, command in attacks(root).items()}
    project = a_project(
        tmp_path,
        *(atom(what) for what in orders),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=replace(ONCE, max_total_attempts=len(orders)),
        environ=CONFINED,
    )
    (tmp_path / "scripted.json.asked").touch()  # nothing new can be made beside the project
    (project.root / "notes.txt").write_text("mine, and not committed\n")
    (project.root / ".git" / "info" / "exclude").write_text(".aot\n")
    before = everything(project.root)
    ran = project.run("--allow-dirty")
    assert ran.code == 5, ran.out + ran.err
    ended = {one["atom"]: one["outcome"] for one in ran.kinds("attempt_ended") if one["atom"] in orders}
    assert ended == dict.fromkeys(orders, "done"), "each of them was made"
    assert everything(project.root) == before
    assert project.subjects() == []
    assert {one.id for one in project.loop.atoms} >= set(orders)
    assert not [one for one in ran.kinds("warning") if "restored" in one["text"]]
    assert not (tmp_path / "project-gone").exists()
    assert leftovers(project) == []


def test_what_a_person_decided_is_closed_too_where_the_checkout_lies_in_their_home(tmp_path: Path, marks: Path) -> None:
    decided = tmp_path / ".local" / "share" / "aotloop"
    attack = (
        f"rm -rf {decided}/*; find {decided} -type f -exec cp README.md '{{}}' ';'; mkdir -p {decided}/judged; "
        f"echo x > {decided}/judged/mine.json; mv {decided} {marks}/gone; touch {marks}/tried"
    )
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="test -f a",
        config=scripted(marks, {"A1": [done({"a": "a"}, run=attack)]}),
        environ={**CONFINED, "HOME": str(tmp_path), "XDG_DATA_HOME": ""},
    )
    assert project.aot("gate", "--yes").code == 0
    before = {path: path.read_bytes() for path in decided.rglob("*") if path.is_file()}
    assert before
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (marks / "tried").exists()
    assert {path: path.read_bytes() for path in before} == before
    assert not (decided / "judged" / "mine.json").exists()


def test_what_an_attempt_needs_it_can_still_do(tmp_path: Path, marks: Path) -> None:
    work = (
        f"set -e; echo a > a && git mv old new && git status --short > {marks}/status && "
        f"git log -1 --format=%s > {marks}/subject && git checkout -q HEAD -- README.md && "
        f"mktemp > {marks}/temporary && "
        f"echo x > /dev/null && mv a {marks}/a && mv {marks}/a b && mkdir d && mv b d/b && ln d/b c && "
        f"ln -s c l && : > d/b && echo b > d/b && touch {marks}/all"
    )
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="grep -q b d/b",
        files={"old": "old\n"},
        config=scripted(marks, {"A1": [done(run=work)]}),
        environ=CONFINED,
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (marks / "all").exists()
    assert ((marks / "subject").read_text(), (marks / "status").read_text()[:1]) == ("the beginning\n", "R")
    assert not Path((marks / "temporary").read_text().strip()).exists(), "of the attempt, and gone with it"
    assert project.files() == {"README.md", "aot.toml", "new", "d/b", "c", "l"}
    assert leftovers(project) == []


def test_what_is_linked_into_worktrees_is_read_and_not_changed(tmp_path: Path, marks: Path) -> None:
    orders = {"A1": [done(run="cat deps/version > a; echo x > deps/.cache; true")]}
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="test -f a",
        files={".gitignore": "deps\n"},
        config=scripted(marks, orders, 'link = ["deps"]'),
        environ=CONFINED,
    )
    write(project.root, {"deps/version": "3\n"})
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (project.root / "a").read_text() == "3\n"
    assert [path.name for path in (project.root / "deps").iterdir()] == ["version"]


@pytest.mark.parametrize("place", [".git", ".git/refs", ".claude"])
def test_a_linked_folder_that_a_command_exchanges_for_a_link_opens_nothing(
    tmp_path: Path, marks: Path, place: str
) -> None:
    """Its target is not opened to an attempt, wherever it leads."""
    orders = {"A2": [done({"a": "a"}, run="echo x > deps/CANARY; true")]}
    project = a_project(
        tmp_path,
        atom("A1", run="true"),
        atom("A2", "A1"),
        base_case="test -f a",
        files={".gitignore": "deps\n"},
        config=scripted(marks, orders, 'link = ["deps"]'),
        environ=CONFINED,
    )
    (project.root / "deps").symlink_to((project.root / place).resolve())
    ran = project.run()
    assert ran.code == 0, ran.out
    assert not (project.root / place / "CANARY").exists()


def test_a_person_edits_and_commits_while_two_attempts_are_made_and_nobody_is_blamed(
    tmp_path: Path, marks: Path
) -> None:
    go = marks / "go"
    orders = {
        name: [done({name: name}, touch=f"{marks}/{name}", after=str(go), run=f"echo x > {tmp_path}/project/README.md")]
        for name in ("A1", "A2")
    }
    project = a_project(
        tmp_path,
        atom("A1"),
        atom("A2"),
        base_case="test -f A1 -a -f A2",
        files={"other": "o\n"},
        config=scripted(marks, orders),
        environ=CONFINED,
    )
    with project.running() as process:
        until(lambda: (marks / "A1").exists() and (marks / "A2").exists())
        (project.root / "README.md").write_text("a person was here\n")
        (project.root / "other").write_text("committed\n")
        project.git("commit", "-qm", "by a person", "other")
        go.touch()
        assert process.wait(PATIENCE) == 0
    assert (project.root / "README.md").read_text() == "a person was here\n"
    assert project.git("status", "--porcelain", "README.md") == "M README.md"
    assert project.subjects()[0] == "by a person"
    assert set(project.subjects()[1:]) == {"A1: do A1", "A2: do A2"}


def test_a_probe_is_kept_out_too(tmp_path: Path, marks: Path) -> None:
    root = tmp_path / "project"
    orders = {"A1?": [finds("easy", run=f"echo x > {root}/README.md; echo x > {root}/new")], "A1": [done({"a": "a"})]}
    project = a_project(
        tmp_path, atom("A1", probe=True), base_case="test -f a", config=scripted(marks, orders), environ=CONFINED
    )
    before = everything(project.root)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.atom("A1").findings == "easy"
    assert {name: before[name] for name in before if not name.startswith(".git/")}.items() <= everything(root).items()
    assert not (root / "new").exists()


def test_a_protected_path_fails_the_attempt_and_its_work_is_kept(tmp_path: Path, marks: Path) -> None:
    orders = {"A1": [done({"half": "x"}, run="echo x > tests/test_it.py")]}
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="false",
        files={"tests/test_it.py": "assert True\n"},
        protect=("tests/**",),
        config=scripted(marks, orders),
        constraints=ONCE,
        environ=CONFINED,
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    assert "it changed what no attempt may change: tests/test_it.py" in project.loop.trail[0].reason
    assert project.is_clean()
    assert "A1-1" in kept(project)


def test_the_project_is_a_part_of_a_repository(tmp_path: Path, marks: Path) -> None:
    """The rest of the checkout is closed as well."""
    whole = Project(tmp_path / "whole")
    (whole.root / "other").mkdir(parents=True)
    (whole.root / "other" / "file").write_text("o\n")
    orders = {"A1": [done({"a": "a"}, run=f"echo x > {whole.root}/other/file")]}
    project = a_project(
        whole.root,
        atom("A1"),
        base_case="test -f a",
        git=False,
        config=scripted(marks, orders),
        environ=CONFINED | {"AOT_ISOLATION": "worktree"},
    )
    for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x")):
        whole.git(*words)
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (whole.root / "other" / "file").read_text() == "o\n"
    assert (project.root / "a").read_text() == "a"


def test_it_can_be_switched_off_and_that_has_to_be_accepted(tmp_path: Path, marks: Path) -> None:
    orders = {"A1": [done({"a": "a"}, run=f"echo x > {tmp_path}/made")]}
    config = 'confine = "off"\n' + scripted(marks, orders)
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    project.environ = {"AOT_CONFINE": ""}
    asked = project.aot("run", "--json")
    assert asked.code != 0
    assert "confine: off; agents are not kept out of the checkout" in asked.err
    assert not (tmp_path / "made").exists()
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (tmp_path / "made").exists()


def test_a_mistake_in_the_key_is_told(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"), config='confine = "maybe"\n')
    project.environ = {"AOT_CONFINE": ""}
    ran = project.run()
    assert ran.code == 1
    assert "confine" in ran.err
    assert json.dumps("auto").strip('"') in ran.err


@pytest.mark.skipif(why_not_bwrap() is not None, reason=f"{why_not_bwrap()}")
def test_behind_bubblewrap_work_lands_and_nothing_outside_is_changed(tmp_path: Path, own_home: Path) -> None:
    (own_home / ".ssh").mkdir()
    (own_home / ".ssh" / "key").write_text("secret")
    program = tmp_path / "agent.sh"
    program.write_text(
        "#!/bin/sh\ncat >/dev/null; cat ~/.ssh/key > a; echo made >> a; git status --short > status\n"
        f"echo x > {tmp_path}/outside; echo x > $AOT_STATE_FILE\n"
        f"env -i setsid sh -c 'while :; do echo x >> {tmp_path}/project/late; echo x >> late; sleep 0.02; done' &\n"
        "echo '{"
        '"success": true, "bindings_delta": {"summary": "s", "artifacts": []}, "artifacts": [], "reason": ""'
        "}'\n"
    )
    program.chmod(0o755)
    config = f'agent = "mine"\n[agents.mine]\nargv = ["{program}"]\n'
    environ = {"AOT_CONFINE": "auto", "AOT_SANDBOX": "bwrap"}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config, environ=environ)
    ran = project.aot("run", "--yes")
    assert ran.code == 0, ran.out + ran.err
    assert "sandbox: bwrap; not covered: the network is open" in ran.err
    assert (project.root / "a").read_text() == "made\n"
    assert not (tmp_path / "outside").exists()
    assert leftovers(project) == []
