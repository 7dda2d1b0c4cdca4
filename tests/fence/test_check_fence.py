"""The base case may write in the checkout, and not to git, the files of the loop, and what a person decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.checks.command_check import check_command
from aotloop.fence.check_fence import checkout_confinement, fence_around, tree_confinement
from aotloop.git.command import Place, git
from aotloop.git.repository import find_repository
from aotloop.process.sandbox import Policy, is_possible
from aotloop.process.sandbox.engine import why_not_bwrap
from aotloop.process.sandbox.fence import Choice
from aotloop.trust import trust
from tests.git.checkouts import make_checkout
from tests.process.sandbox.worlds import engines

pytestmark = pytest.mark.skipif(not is_possible(), reason="this machine has no fence")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_checkout(tmp_path / "project")
    for folder in (".claude", ".aot", "build"):
        (root / folder).mkdir(exist_ok=True)
    (root / ".claude" / "aot-loop-state.md").write_text("state\n")
    trust(str(root / ".claude" / "aot-loop-state.md"), ["make"])
    return root


def test_behind_landlock_a_command_in_the_checkout_builds_and_decides_nothing_for_a_person(
    root: Path, own_home: Path
) -> None:
    """Landlock cannot close a part of a folder in which tests make new files."""
    confinement = checkout_confinement(root, str(root / ".claude/aot-loop-state.md"), Policy(engine="landlock"))
    decided = own_home / ".local/share/aotloop/trusted"
    before = sorted(decided.iterdir())
    with fence_around(confinement) as fence:
        check_command(f"echo x > {decided}/x.json", root=root, env=fence.env, confinement=fence.confinement)
        check_command(f"rm -rf {decided}/*", root=root, env=fence.env, confinement=fence.confinement)
        built = check_command("echo x > built", root=root, env=fence.env, confinement=fence.confinement)
    assert built.passed, built.output
    assert (root / "built").exists()
    assert sorted(decided.iterdir()) == before


@pytest.mark.skipif(why_not_bwrap() is not None, reason="bubblewrap cannot be used here")
def test_a_command_in_the_checkout_builds_and_changes_nothing_of_ours(root: Path, own_home: Path) -> None:
    confinement = checkout_confinement(root, str(root / ".claude/aot-loop-state.md"), Policy(engine="bwrap"))
    attacks = [
        "echo x > .git/hooks/post-commit", "echo x >> .git/config", "git commit -qm x --allow-empty",
        "echo x >> .claude/aot-loop-state.md", "rm -f .claude/aot-loop-state.md", "mv .claude elsewhere",
        "echo x > .claude/other.md", "echo x > .aot/x", "rm -rf .aot", "mv .git gone",
        f"echo x > {own_home}/.local/share/aotloop/trusted/x.json", f"rm -rf {own_home}/.local/share/aotloop/trusted/*",
    ]  # fmt: skip
    with fence_around(confinement) as fence:
        for attack in attacks:
            check_command(attack, root=root, env=fence.env, confinement=fence.confinement)
        built = check_command(
            "echo x > build/out && echo x > new && mktemp && echo x >> a.txt",
            root=root,
            env=fence.env,
            confinement=fence.confinement,
        )
    assert built.passed, built.output
    assert (root / "build" / "out").exists()
    assert (root / ".claude" / "aot-loop-state.md").read_text() == "state\n"
    assert [path.name for path in (root / ".claude").iterdir()] == ["aot-loop-state.md"]
    assert list((root / ".aot").iterdir()) == []
    assert not (root / ".git/hooks/post-commit").exists()
    assert len(list((own_home / ".local/share/aotloop/trusted").iterdir())) == 1


def test_a_check_in_a_clean_tree_writes_there_and_not_in_the_checkout(root: Path, tmp_path: Path) -> None:
    repository = find_repository(root)
    assert repository is not None
    tree = tmp_path / "tree"
    tree.mkdir()
    with fence_around(tree_confinement(repository, tree)) as fence:
        command = f"echo x > here; echo x > {root}/a.txt; echo x > {root}/.git/x; true"
        check_command(command, root=tree, env=fence.env, confinement=fence.confinement)
    assert (tree / "here").exists()
    assert (root / "a.txt").read_text() != "x\n"
    assert not (root / ".git" / "x").exists()


@pytest.mark.skipif(why_not_bwrap() is not None, reason="bubblewrap cannot be used here")
def test_a_git_folder_that_appears_or_moves_is_closed_from_then_on(tmp_path: Path) -> None:
    """Where it is is asked once, and again if it is another one."""
    root = tmp_path / "project"
    root.mkdir()

    def closed() -> set[Path]:
        confinement = checkout_confinement(root, str(root / ".claude/aot-loop-state.md"), Policy(engine="bwrap"))
        assert confinement is not None
        return set(confinement.closed)

    assert root / ".git" not in closed()
    git(Place(root), "init", "--quiet")
    assert root / ".git" in closed()
    git(Place(root), "init", "--quiet", "--separate-git-dir", str(tmp_path / "elsewhere"))
    assert {root / ".git", tmp_path / "elsewhere"} <= closed()


def test_no_fence_is_no_fence(root: Path) -> None:
    assert checkout_confinement(root, str(root / ".claude/aot-loop-state.md"), None) is None


@pytest.mark.parametrize("engine", engines())
def test_a_command_in_a_linked_worktree_changes_no_other_checkout(tmp_path: Path, engine: Choice) -> None:
    first = make_checkout(tmp_path / "first", {"a": "a\n"})
    git(Place(first), "worktree", "add", "--quiet", str(tmp_path / "linked"))
    root = tmp_path / "linked"
    confinement = checkout_confinement(root, str(root / ".claude/aot-loop-state.md"), Policy(engine=engine))
    command = "echo x > here && ! echo x > ../first/canary && ! echo x > ../first/.git/canary"
    with fence_around(confinement) as fence:
        result = check_command(command, root=root, env=fence.env, confinement=fence.confinement)
    assert result.passed, result.output
    assert not [*first.rglob("canary")]


@pytest.mark.skipif(why_not_bwrap() is not None, reason="bubblewrap cannot be used here")
def test_a_command_does_not_change_the_environment_in_which_aotloop_is_installed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / ".venv/bin").mkdir(parents=True)
    monkeypatch.setattr("sys.prefix", str(root / ".venv"))
    confinement = checkout_confinement(root, str(root / ".claude/aot-loop-state.md"), Policy(engine="bwrap"))
    with fence_around(confinement) as fence:
        command = "echo x > here && ! echo x > .venv/bin/aot"
        result = check_command(command, root=root, env=fence.env, confinement=fence.confinement)
    assert result.passed, result.output
    assert not (root / ".venv/bin/aot").exists()
