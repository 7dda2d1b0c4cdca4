"""What OpenCode wrote down is read; what it wrote otherwise than expected is nothing."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.contract import Tokens
from aotloop.agents.opencode import request_log
from aotloop.agents.opencode.request_log import STORE, Record, copied_to


def read_record(folder: Path) -> Record | None:
    with copied_to(folder / "own") as own:
        return request_log.read_record(folder, own)


def store(folder: Path, *messages: Any, table: str = "message") -> Path:
    file = folder / STORE
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"CREATE TABLE {table} (id TEXT, time_created INTEGER, data TEXT)")
        rows = [(str(at), at, one if isinstance(one, str) else json.dumps(one)) for at, one in enumerate(messages)]
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    return folder


def assistant(**more: Any) -> dict[str, Any]:
    tokens = {"input": 10, "output": 5, "reasoning": 1, "cache": {"read": 2, "write": 3}}
    return {"role": "assistant", "tokens": tokens, **more}


def test_all_requests_are_summed_up(tmp_path: Path) -> None:
    record = read_record(store(tmp_path, {"role": "user"}, assistant(), assistant()))
    assert record == Record(turns=2, tokens=Tokens(input=20, output=12, cache_read=4, cache_write=6))


def test_the_last_error_is_told_with_its_status_and_when_to_come_back(tmp_path: Path) -> None:
    data = {"message": "no", "statusCode": 429, "responseHeaders": {"retry-after": "30"}}
    record = read_record(store(tmp_path, assistant(error={"name": "APIError", "data": data})))
    assert record is not None
    assert record.trouble is not None
    assert (record.trouble.cause, record.trouble.retry_after) == ("rate_limit", 30)


@pytest.mark.parametrize("odd", [{"role": "assistant", "tokens": 5}, {"role": "assistant", "error": "x"}])
def test_what_is_odd_counts_nothing(tmp_path: Path, odd: Any) -> None:
    assert read_record(store(tmp_path, odd)) == Record(turns=1, tokens=Tokens())


def test_what_cannot_be_read_is_not_told(tmp_path: Path) -> None:
    assert read_record(tmp_path) is None
    assert read_record(store(tmp_path, table="another")) is None
    for content in (["no json"], ["[]"], ["[" * 100_000]):
        (tmp_path / STORE).unlink()
        assert read_record(store(tmp_path, *content)) is None
    (tmp_path / STORE).write_text("no database")
    assert read_record(tmp_path) is None


def test_impossible_numbers_count_nothing(tmp_path: Path) -> None:
    """Else an attempt could lower its bill."""
    tokens = {"input": -(10**6), "output": 10**30, "cache": {"read": 1}}
    data = {"responseHeaders": {"retry-after": 10**400}}
    record = read_record(store(tmp_path, {"role": "assistant", "tokens": tokens, "error": {"data": data}}))
    assert record is not None
    assert record.tokens == Tokens(cache_read=1)
    assert record.trouble is not None
    assert record.trouble.retry_after is None


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x, x, x FROM n"


@pytest.mark.parametrize("trap", ["a query without an end", "a value without an end", "pipes", "a link"])
def test_a_store_that_an_agent_made_stops_nothing(tmp_path: Path, trap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen: a view in the place of the table, and a pipe in the place of the journal, stopped the run for ever."""
    monkeypatch.setattr(request_log, "_LONGEST", 0.2)
    file = tmp_path / STORE
    match trap:
        case "pipes":
            for ending in ("", "-wal", "-journal", "-shm"):
                os.mkfifo(f"{file}{ending}")
        case "a link":
            file.symlink_to(store(_made(tmp_path / "elsewhere"), assistant()) / STORE)
        case "a query without an end":
            with closing(sqlite3.connect(file)) as connection, connection:
                connection.execute(f"CREATE VIEW message(data, time_created, id) AS {ENDLESS}")
        case _:
            with closing(sqlite3.connect(file)) as connection, connection:
                endless = "hex(zeroblob(400000000))"
                connection.execute(f"CREATE TABLE message (id, time_created, data AS ({endless}))")
                connection.execute("INSERT INTO message VALUES (1, 1)")
    assert read_record(tmp_path) is None
    assert not list((tmp_path / "own").iterdir())


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def test_what_is_not_yet_in_the_main_file_counts(tmp_path: Path) -> None:
    with closing(sqlite3.connect(store(tmp_path, assistant()) / STORE)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("INSERT INTO message VALUES ('x', 5, ?)", [json.dumps(assistant())])
        connection.commit()
        record = read_record(tmp_path)
    assert record is not None
    assert record.turns == 2
