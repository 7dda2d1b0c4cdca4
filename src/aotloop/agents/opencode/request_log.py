"""The log of OpenCode's requests to models, from its own store: tokens, and how the last request failed.

That store is not an interface: an unexpected form counts as no information.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import msgspec

from aotloop.agents.attempt.usage import total
from aotloop.agents.client.service_errors import Trouble, trouble
from aotloop.agents.contract import Tokens
from aotloop.foreign_files import read_foreign, write_new

STORE = "opencode.db"
_MOST_BYTES = 200_000_000


class Record(msgspec.Struct, frozen=True, kw_only=True):
    turns: int
    tokens: Tokens
    trouble: Trouble | None = None


def read_record(store: Path) -> Record | None:
    """None: there is no information."""
    if store.is_symlink() or not store.is_file() or store.stat().st_size > _MOST_BYTES:
        return None
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=1)) as connection:
            rows = connection.execute("SELECT data FROM message ORDER BY time_created, id").fetchall()
        messages = [message for (data,) in rows if (message := json.loads(data)).get("role") == "assistant"]
    except (sqlite3.Error, ValueError, AttributeError, TypeError):
        return None
    return Record(
        turns=len(messages),
        tokens=total(map(_tokens, messages)),
        trouble=_trouble(messages[-1].get("error")) if messages else None,
    )


def tokens_in(store: Path) -> Tokens | None:
    """What all its requests have used by now."""
    record = read_record(store)
    return record.tokens if record is not None and record.tokens != Tokens() else None


def copy_store(source: Path, target: Path) -> None:
    """Copies only the conversations, with the parts that are not yet in the main file.

    If the copy fails, the client does not know the conversation, and reports that.
    """
    with suppress(OSError):
        for name in (STORE, f"{STORE}-wal"):
            (target / name).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                write_new(target / name, read_foreign(source / name, _MOST_BYTES))


def _tokens(message: dict[str, Any]) -> Tokens:
    told = message.get("tokens")
    told = told if isinstance(told, dict) else {}
    cache = told.get("cache")
    cache = cache if isinstance(cache, dict) else {}
    return Tokens(
        input=_count(told.get("input")),
        output=_count(told.get("output")) + _count(told.get("reasoning")),
        cache_read=_count(cache.get("read")),
        cache_write=_count(cache.get("write")),
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) else 0


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
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
