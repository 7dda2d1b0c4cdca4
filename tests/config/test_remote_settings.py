"""Settings about other machines are in the user's own file only."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.config.sources import load
from aotloop.errors import AotError
from tests.config.writing import loaded


def own(text: str) -> None:
    folder = Path(os.environ["HOME"], ".config", "aotloop")
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


@pytest.mark.parametrize(
    "text",
    [
        'isolation = "remote"',
        '[remote]\nqueue = "q"',
        "[worker]\nslots = 1",
        '[agents.large]\nkind = "claude"\nqueue = "gpu"',
    ],
)
def test_a_project_does_not_decide_where_its_files_are_sent(project: Path, text: str) -> None:
    with pytest.raises(AotError, match="only your own settings may say this") as refused:
        loaded(project, text)
    assert "config.toml" in (refused.value.hint or "")


def test_the_users_own_file_says_where_attempts_are_made(project: Path) -> None:
    own('[remote]\nqueue = "q"\n[agents.large]\nkind = "claude"\nqueue = "gpu"\n')
    config = load(project)
    assert (config.queue_of("large"), config.queue_of("claude"), config.goes_elsewhere) == ("gpu", None, True)
    everywhere = load(project, flags={"isolation": "remote"})
    assert (everywhere.queue_of("large"), everywhere.queue_of("claude")) == ("gpu", "q")


def test_without_settings_nothing_goes_elsewhere(project: Path) -> None:
    assert not load(project).goes_elsewhere


@pytest.mark.parametrize(
    "text",
    [
        '[worker.repositories]\np = "--upload-pack=x"',
        '[worker.repositories]\np = "ext::sh"',
        '[worker.repositories]\n"../p" = "/p"',
        '[worker]\nrepositories = "p"',
        "[worker]\nslots = 0",
        '[remote]\nkey_file = "key"',
        "[remote]\nlocal = -1",
        "[remote]\nlocal = true",
        "[remote]\nqueues = 3",
        "[remote.queues.q]\nslots = 0",
        "[remote.queues.q]\nslot = 1",
        "[remote.queues]\nq = 1",
        "[worker]\nchecks = -1",
    ],
)
def test_mistakes_are_named(project: Path, text: str) -> None:
    own(text)
    with pytest.raises(AotError, match=r"config\.toml"):
        load(project)
