"""The log of OpenCode's requests to models, from its own store: tokens, and how the last request failed.

That store is not an interface: an unexpected form counts as no information. Commands of the agent can write to it, and
a database can hold a query without an end in the place of a table. So a copy in a folder of ours is read, for a bounded
time.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from aotloop.agents.attempt.usage import total
from aotloop.agents.client.service_errors import Trouble, trouble
from aotloop.agents.contract import Tokens
from aotloop.deletion import discard_tree
from aotloop.foreign_files import read_foreign, write_new

STORE = "opencode.db"
_PARTS = (STORE, f"{STORE}-wal")
_MOST_BYTES = 200_000_000
_MOST_OF_A_MESSAGE = 20_000_000
_LONGEST = 2.0
"""Seconds."""
_OFTEN = 10_000
"""Steps of the database after which it looks at the time."""
_MOST_TOKENS = 2**53


class Record(msgspec.Struct, frozen=True, kw_only=True):
    turns: int
    tokens: Tokens
    trouble: Trouble | None = None


def read_record(folder: Path, own: Path) -> Record | None:
    """None: there is no information. `folder`: where the store is. `own`: a folder in which no agent can write."""
    copy_store(folder, own)
    if not (own / STORE).exists():
        return None
    try:
        with _opened(own / STORE) as connection:
            kinds = connection.execute("SELECT type FROM sqlite_schema WHERE name = 'message'").fetchall()
            if kinds != [("table",)]:
                return None
            rows = connection.execute("SELECT data FROM message ORDER BY time_created, id")
            messages = [message for (data,) in rows if (message := json.loads(data)).get("role") == "assistant"]
    except (sqlite3.Error, ValueError, AttributeError, TypeError, RecursionError, MemoryError):
        return None
    return Record(
        turns=len(messages),
        tokens=total(map(_tokens, messages)),
        trouble=_trouble(messages[-1].get("error")) if messages else None,
    )


@contextmanager
def copied_to(folder: Path) -> Iterator[Path]:
    """A folder of its own in this one, for the copy."""
    own = folder / "requests"
    try:
        yield own
    finally:
        discard_tree(own)


@contextmanager
def _opened(store: Path) -> Iterator[sqlite3.Connection]:
    """As SQLite advises for a file of a stranger."""
    deadline = time.monotonic() + _LONGEST
    with closing(sqlite3.connect(store, timeout=1)) as connection:
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _OFTEN)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_OF_A_MESSAGE)
        for order in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
            connection.execute(f"PRAGMA {order}")
        yield connection


def tokens_in(folder: Path, own: Path) -> Tokens | None:
    """What all its requests have used by now. As `read_record`."""
    record = read_record(folder, own)
    return record.tokens if record is not None and record.tokens != Tokens() else None


def copy_store(source: Path, target: Path) -> None:
    """Copies only the conversations, with the parts that are not yet in the main file.

    If the copy fails, the client does not know the conversation, and reports that.
    """
    with suppress(OSError):
        target.mkdir(parents=True, exist_ok=True)
        for name in _PARTS:
            (target / name).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                write_new(target / name, read_foreign(source / name, _MOST_BYTES))


def _tokens(message: dict[str, Any]) -> Tokens:
    counts = message.get("tokens")
    counts = counts if isinstance(counts, dict) else {}
    cache = counts.get("cache")
    cache = cache if isinstance(cache, dict) else {}
    return Tokens(
        input=_count(counts.get("input")),
        output=_count(counts.get("output")) + _count(counts.get("reasoning")),
        cache_read=_count(cache.get("read")),
        cache_write=_count(cache.get("write")),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < _MOST_TOKENS else 0


def _trouble(error: Any) -> Trouble | None:
    data = error.get("data") if isinstance(error, dict) else None
    if not isinstance(data, dict):
        return None
    headers = data.get("responseHeaders")
    after = headers.get("retry-after") if isinstance(headers, dict) else None
    status = data.get("statusCode")
    words = f"{error.get('name')}: {data.get('message')}"
    return trouble(words, status if isinstance(status, int) else None, _seconds(after))


def _seconds(value: Any) -> float | None:
    with suppress(TypeError, ValueError, OverflowError):
        seconds = float(value)
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    return None
