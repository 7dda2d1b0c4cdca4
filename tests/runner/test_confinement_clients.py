"""The real clients work in their worktree and cannot change the checkout, whatever the model tells them to do (§7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.agents.confinement import is_possible
from tests.loops import atom
from tests.modelserver import ModelServer, Script
from tests.modelserver.operators import DONE, config_of, each_client, environ_of, shell, write
from tests.runner.leftovers import leftovers
from tests.runner.projects import a_project

pytestmark = pytest.mark.skipif(not is_possible(), reason="this kernel has no Landlock")


@each_client
@pytest.mark.parametrize("home", ["elsewhere", "above"])
def test_a_client_that_is_told_to_change_the_checkout_changes_its_worktree_only(
    tmp_path: Path, own_home: Path, client: str, home: str
) -> None:
    root = tmp_path / "project"
    attack = f"echo x > {root}/README.md; echo x > {root}/new; echo x >> {root}/.claude/aot-loop-state.md"
    attack += f"; echo x > {root}/.git/hooks/pre-commit; git -C {root} commit -q --allow-empty -m mine; touch tried"
    attack = f"sh -c '{attack}'"  # the client itself looks for paths in what it is told to run
    turns = [write(client, root / "README.md", "x"), shell(client, attack), shell(client, "echo a > a"), DONE]
    with ModelServer([Script(".", turns)]) as server:
        more = {"HOME": str(tmp_path if home == "above" else own_home)}
        project = a_project(
            tmp_path,
            atom("A1"),
            base_case="test -f a",
            config=config_of(client),
            environ=environ_of(client, server, **more),
        )
        ran = project.run(patience=120)
    assert ran.code == 0, ran.out + ran.err
    assert server.lost == []
    assert project.files() == {"README.md", "aot.toml", "a", "tried"}
    assert (root / "README.md").read_text() == "a project\n"
    assert project.subjects() == ["A1: do A1"]
    assert project.is_clean()
    assert not (root / ".git" / "hooks" / "pre-commit").exists()
    assert len(ran.kinds("attempt_began")) == 1
    assert leftovers(project) == []
