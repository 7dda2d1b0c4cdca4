"""Only this module reads the time of day. It is a label for people, because users and programs may set that clock.

Waiting, time-outs and measured durations use `time.monotonic`, which never goes back.
"""

from __future__ import annotations

import time

_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def now() -> str:
    """As the state file and the journals write it, in UTC."""
    return text_of(unix_time())


def unix_time() -> float:
    """Seconds since 1970."""
    return time.time()


def minutes_of_day(seconds: float | None = None) -> int:
    """Minutes since midnight, where the person is; None: now."""
    local = time.localtime(seconds)
    return local.tm_hour * 60 + local.tm_min


def text_of(seconds: float) -> str:
    """The time that is so many seconds after 1970 began, as `now` writes it."""
    return time.strftime(_FORMAT, time.gmtime(seconds))


def unix_time_of(text: str) -> float | None:
    """Of a time in ISO 8601; UTC if it names no zone. None: the text is no time."""
    from datetime import UTC, datetime  # noqa: PLC0415 - hooks start without it

    try:
        named = datetime.fromisoformat(text)
        return (named if named.tzinfo is not None else named.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
