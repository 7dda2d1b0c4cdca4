"""A proposal is exactly what was proposed, or it is none; sessions cannot flood a person with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.app.overview.attention import need_of_loop
from aotloop.app.redirect.proposals import MOST, accept_proposal, dismiss_proposal, proposals_of, propose
from aotloop.app.redirect.wishes import Wishes
from aotloop.errors import AotError
from aotloop.statefile.store import Store
from tests.loops import a_loop, atom, write_accepted


@pytest.fixture
def store(project: Path) -> Store:
    return Store(str(write_accepted(project, a_loop(atom("A1"), status="stopped"))))


def files() -> list[Path]:
    return list(Path(os.environ["HOME"], ".local", "share", "aotloop", "proposals").glob("*.json"))


def test_a_proposal_that_was_changed_since_is_none(store: Store) -> None:
    made, _ = propose(store, Wishes(limits=("max_iterations=7",)), "a client")
    (file,) = files()
    file.write_text(file.read_text().replace("=7", "=9"))
    assert proposals_of(store) == []
    with pytest.raises(AotError, match="there is no proposal"):
        accept_proposal(store, made.name)


def test_other_things_in_the_folder_are_ignored(store: Store) -> None:
    made, _ = propose(store, Wishes(limits=("max_iterations=7",)), "a client")
    (file,) = files()
    stem = file.stem.rpartition("-")[0]
    os.mkfifo(file.with_name(f"{stem}-pipe.json"))
    file.with_name(f"{stem}-loop.json").symlink_to(file.with_name(f"{stem}-loop.json"))
    file.with_name(f"{stem}-deep.json").write_text("[" * 10_000)
    assert [one.name for one in proposals_of(store)] == [made.name]


def test_what_is_not_possible_is_not_kept(store: Store) -> None:
    for wishes in (Wishes(retry=("nope",)), Wishes(accept=True), Wishes(limits=("max_iterations=x",))):
        with pytest.raises(AotError):
            propose(store, wishes, "a client")
    assert files() == []


def test_sessions_cannot_flood_a_person(store: Store) -> None:
    for number in range(MOST):
        propose(store, Wishes(limits=(f"max_iterations={number + 1}",)), "a client")
    with pytest.raises(AotError, match="wait for a person already"):
        propose(store, Wishes(limits=("max_iterations=99",)), "a client")
    assert "proposes" in (need_of_loop(store, store.load(), is_run=True) or "")
    for one in proposals_of(store):
        dismiss_proposal(store, one.name)
    assert files() == []
