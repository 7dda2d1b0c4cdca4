"""A person at a terminal sees all of a proposal, and what it does, and decides; a program cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aotloop.app.redirect.proposals import proposals_of, propose
from aotloop.app.redirect.wishes import Addition, Wishes
from aotloop.statefile.store import Store
from tests.cli.terminal import aot, terminal
from tests.loops import a_loop, atom, write_accepted


@pytest.fixture
def store(project: Path) -> Store:
    return Store(str(write_accepted(project, a_loop(atom("A1"), status="stopped"))))


def proposed(store: Store, run: str | None = None) -> str:
    wishes = Wishes(add=Addition(description="make \x1b[2Jtea", run=run), reason="thirst")
    return propose(store, wishes, "a client")[0].name


def test_nothing_is_accepted_without_the_word_of_a_person(store: Store) -> None:
    name = proposed(store, run="touch /tmp/x")
    with terminal("proposal", name, "--accept", columns=200) as screen:
        screen.wait_for("Make this correction?")
        assert "new commands: touch /tmp/x" in screen.text
        screen.type("n\n")
        assert screen.end() != 0
    assert len(store.load().atoms) == 1
    assert aot("proposal", name, "--accept").code != 0
    with terminal("proposal", name, "--accept") as screen:
        screen.wait_for("Make this correction?")
        screen.type("y\n")
        assert screen.end() == 0
    assert len(store.load().atoms) == 2
    assert proposals_of(store) == []


def test_all_proposals_are_listed_and_dismissed(store: Store) -> None:
    assert aot("proposal").out == "no proposal waits for you\n"
    name = proposed(store)
    shown = aot("proposal")
    assert (name in shown.out, "\x1b" in shown.out, "thirst" in shown.out) == (True, False, True)
    (told,) = json.loads(aot("proposal", "--json").out)["proposals"]
    assert (told["name"], told["preview"]["added"]) == (name, "A2")
    assert "there is no proposal nope" in aot("proposal", "nope").err
    assert aot("proposal", name, "--dismiss").code == 0
    assert proposals_of(store) == []
