"""What of the operator's CODEX_HOME is lent, and whom the client is told not to trust."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

from aotloop.agents.codex.codex_home import distrust, lend_settings, pointed_at_instructions


def test_settings_are_a_copy_and_the_rest_is_linked(tmp_path: Path) -> None:
    theirs, home = tmp_path / "theirs", tmp_path / "home"
    (theirs / "skills").mkdir(parents=True)
    home.mkdir()
    (theirs / "config.toml").write_text('model = "m"\n')
    (theirs / "auth.json").write_text("secret")
    lend_settings(theirs, home)
    (home / "config.toml").write_text("changed")
    assert (theirs / "config.toml").read_text() == 'model = "m"\n'
    assert (home / "skills").readlink() == theirs / "skills"
    assert sorted(path.name for path in home.iterdir()) == ["config.toml", "skills"]
    lend_settings(tmp_path / "nowhere", home)


def test_neither_a_worktree_nor_the_checkout_it_belongs_to_is_trusted(tmp_path: Path) -> None:
    main, tree = tmp_path / 'ma"in', tmp_path / "tree"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(main)]
    subprocess.run(["git", "init", "-q", main], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", tree], check=True)
    (tree / "part").mkdir()
    option, value = distrust(tree / "part")
    assert option == "-c"
    projects = tomllib.loads(value)["projects"]
    assert projects == {str(one): {"trust_level": "untrusted"} for one in (tree, tree / "part", main)}


def test_a_prompt_points_at_the_instructions_where_there_are_any(tmp_path: Path) -> None:
    assert pointed_at_instructions("Do it", tmp_path) == "Do it"
    (tmp_path / "AGENTS.md").touch()
    assert pointed_at_instructions("Do it", tmp_path).endswith("AGENTS.md; read that first.\n\nDo it")
