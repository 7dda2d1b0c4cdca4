"""What stands in the way is said before anything begins, with what to do about it; nothing is left behind by it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.ship.features import ENOUGH, Feature, a_feature, at, orders


def without_git(feature: Feature) -> None:
    (feature.root / ".git").rename(feature.folder / "git")


def without_a_commit(feature: Feature) -> None:
    feature.git("update-ref", "-d", "HEAD")


def dirty(feature: Feature) -> None:
    (feature.root / "README.md").write_text("changed\n")


def detached(feature: Feature) -> None:
    feature.git("checkout", "--quiet", "--detach")


def nobody(feature: Feature) -> None:
    feature.commit({"aot.toml": "\n"})


def a_stranger(feature: Feature) -> None:
    feature.commit({"aot.toml": 'agent = "missing"\n[agents.missing]\nargv = ["/no/such/program"]\n'})


def in_place(feature: Feature) -> None:
    feature.commit({"aot.toml": 'isolation = "none"\n' + (feature.root / "aot.toml").read_text()})


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without_git, "is not in a git repository"),
        (without_a_commit, "nothing has been committed here yet"),
        (dirty, "changes that are not committed: README.md"),
        (detached, "no branch is checked out"),
        (nobody, "there is no agent to do the work"),
        (a_stranger, "the agent missing cannot be started"),
        (in_place, "`isolation` is none"),
    ],
)
def test_a_feature_does_not_begin_where_it_could_not_go_on(
    tmp_path: Path, spoil: Callable[[Feature], None], said: str
) -> None:
    feature = a_feature(tmp_path, orders(plan=ENOUGH))
    spoil(feature)
    ran = feature.ship("a feature", "--here", "--skip-brainstorm", "--max-iterations", "1")
    assert ran.code == 3, ran.out + ran.err
    assert said in ran.err
    assert not feature.file.exists()
    assert feature.asked("plan") == 0


def test_without_an_agent_nothing_is_asked_first(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=ENOUGH))
    nobody(feature)
    ran = feature.aot("ship", "a feature", "--skip-brainstorm")
    assert (ran.code, "there is no agent to do the work" in ran.err) == (3, True)
    assert "acceptance tests" not in ran.err


def test_commands_are_run_only_after_they_were_accepted(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=ENOUGH), more='[ship]\ntest_command = "sh -e"\n')
    begin = ("ship", "a feature", "--skip-brainstorm", "--max-iterations", "1")
    refused = feature.aot(*begin)
    assert refused.code == 1
    assert "acceptance tests are run with: sh -e" in refused.err
    accepted = feature.aot(*begin, "--yes")
    assert accepted.code == 5, accepted.err
    assert feature.aot("ship", "--max-iterations", "2").code == 5  # and it is remembered


def test_how_tests_are_run_is_shown_where_the_project_does_not_say_it(tmp_path: Path) -> None:
    client = tmp_path / "bin" / "claude"
    client.parent.mkdir()
    client.write_text("#!/bin/sh\necho '2.1.0 (Claude Code)'\n")
    client.chmod(0o755)
    environ = {"PATH": os.pathsep.join((str(client.parent), os.environ["PATH"]))}
    feature = a_feature(tmp_path, config="\n", environ=environ)
    refused = feature.aot("ship", "a feature", "--agent", "claude")
    assert refused.code == 1
    assert "acceptance tests, written by an agent" in refused.err
    assert "python3 -m pytest" in refused.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--skip-brainstorm"], "--skip-brainstorm applies only at the beginning"),
        (["--json", "status"], "`aot ship status` expects its options after the subcommand"),
        (["--max-iterations", "0"], "Invalid value"),
        (["--no-such-option"], "No such option"),
    ],
)
def test_what_cannot_be_meant_is_a_mistake_in_usage(tmp_path: Path, words: list[str], said: str) -> None:
    feature = a_feature(tmp_path)
    at(feature, "plan")
    ran = feature.aot("ship", *words)
    assert ran.code == 2
    assert said in ran.err
    assert "`aot ship --help` shows its use." in ran.err


def test_without_a_feature_there_is_nothing_to_go_on_with(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    ran = feature.ship()
    assert ran.code == 3
    assert '`aot ship "FEATURE"` begins with a feature.' in ran.err
    assert feature.aot("ship", "status").code == 1


def test_another_branch_than_the_one_it_is_built_on_is_no_place_to_go_on(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(compound=ENOUGH))
    at(feature, "compound", max_iterations=1)
    feature.git("switch", "--quiet", "--create", "other", "HEAD~1")
    refused = feature.ship()
    assert refused.code == 6
    assert "is built on main, and other is checked out" in refused.err
    feature.git("switch", "--quiet", "main")
    assert feature.ship().code == 5
