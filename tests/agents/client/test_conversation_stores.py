"""A store is removed with what its client has left elsewhere, and with nothing that is another's."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.agents.claude.conversations import conversation
from aotloop.agents.client.conversation_stores import empty_store, remove_store
from aotloop.agents.contract import Session, Sitting

OTHER = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def home(own_home: Path) -> Path:
    return own_home / ".claude"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    empty_store(tmp_path / "store")
    return tmp_path / "store"


def conversed(home: Path, name: str, text: str = "said\n") -> Path:
    """As the client does it."""
    file = home / "projects" / "-tree" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as content:
        content.write(text)
    (file.parent / name / "subagents").mkdir(parents=True, exist_ok=True)
    (home / "todos").mkdir(exist_ok=True)
    (home / "todos" / f"{name}-agent.json").write_text("[]")
    return file


def test_a_conversation_is_with_the_operator_only_while_an_attempt_runs(home: Path, store: Path) -> None:
    with conversation(Sitting(store=store), home) as (option, name):
        assert option == "--session-id"
        file = conversed(home, name)
    assert [path for path in home.rglob("*") if path.is_file()] == []
    assert not file.parent.exists()
    with conversation(Sitting(store=store, session=Session(id=name)), home) as options:
        assert options == ("--resume", name)
        assert file.read_text() == "said\n"
        assert (file.parent / name / "subagents").is_dir()
        conversed(home, name, "more\n")
    assert not file.exists()
    with conversation(Sitting(store=store, session=Session(id=name)), home):
        assert file.read_text() == "said\nmore\n"


def test_without_a_sitting_the_client_keeps_nothing(home: Path) -> None:
    with conversation(None, home) as options:
        assert options == ("--no-session-persistence",)


def test_what_was_left_by_who_was_killed_is_removed_and_nothing_else(home: Path, store: Path) -> None:
    others = conversed(home, OTHER)
    killed = conversation(Sitting(store=store), home)
    _, name = killed.__enter__()
    file = conversed(home, name)
    remove_store(store)
    assert (file.exists(), store.exists(), others.exists()) == (False, False, True)


@pytest.mark.parametrize("mark", ["*", "../../x", "", OTHER[:-1], f"{OTHER}\n", "\udcff"])
def test_a_store_whose_mark_names_no_conversation_removes_none(home: Path, store: Path, mark: str) -> None:
    others = conversed(home, OTHER)
    (store / "claude").write_bytes(mark.encode("utf-8", "surrogateescape"))
    remove_store(store)
    assert others.exists()


def test_a_store_is_empty_to_begin_with(store: Path) -> None:
    (store / "sessions").mkdir()
    (store / "sessions" / "old").write_text("old")
    empty_store(store)
    assert [*store.iterdir()] == []
    assert store.stat().st_mode & 0o777 == 0o700
