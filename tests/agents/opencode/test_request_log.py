"""What OpenCode wrote down is read; what it wrote otherwise than expected is nothing."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.contract import Tokens
from aotloop.agents.opencode.request_log import Record, read_record


def store(folder: Path, *messages: Any, table: str = "message") -> Path:
    file = folder / "store.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"CREATE TABLE {table} (id TEXT, time_created INTEGER, data TEXT)")
        rows = [(str(at), at, one if isinstance(one, str) else json.dumps(one)) for at, one in enumerate(messages)]
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    return file


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
    assert read_record(tmp_path / "nowhere") is None
    assert read_record(store(tmp_path, table="another")) is None
    (tmp_path / "store.db").write_text("no database")
    assert read_record(tmp_path / "store.db") is None
    (tmp_path / "store.db").unlink()
    assert read_record(store(tmp_path, "no json")) is None
    (tmp_path / "store.db").unlink()
    assert read_record(store(tmp_path, "[]")) is None
