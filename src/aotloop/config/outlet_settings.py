"""Settings about what leaves this machine: notifications and telemetry. Only the user's own file may have them.

The addresses may hold passwords, so no value of them is ever shown: not by an error, and not by `repr`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

import msgspec

from aotloop.config.values import Place, Reader, duration, filled_text, list_of, one_of, positive_number, switch

Occasion = Literal["needs_person", "finished", "stopped", "limit_near", "failures"]
OCCASIONS: tuple[Occasion, ...] = get_args(Occasion)

_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


class NotifySettings(msgspec.Struct, frozen=True, kw_only=True):
    urls: tuple[str, ...] = ()
    """In the notation of apprise."""
    events: tuple[Occasion, ...] = OCCASIONS
    quiet: tuple[int, int] | None = None
    """Minutes of the day between which nothing is sent, in local time; the first may be the larger one."""
    failures: int = 3
    """So many failures in a row are an occasion."""
    timeout: float = 10.0
    """Seconds that the end of a run waits for the last message."""
    page: str | None = None
    """The address of the user's `aot serve`, for the links in messages. None: that of `aot run --serve`."""

    def __repr__(self) -> str:
        return f"NotifySettings({len(self.urls)} urls)"


class TelemetrySettings(msgspec.Struct, frozen=True, kw_only=True):
    enabled: bool = False
    endpoint: str | None = None
    """None: as OTEL_EXPORTER_OTLP_ENDPOINT says."""
    content: bool = False
    """Also sends what atoms ask for, and what attempts answer."""
    timeout: float = 5.0

    def __repr__(self) -> str:
        return f"TelemetrySettings(enabled={self.enabled})"


def _quiet(value: object, at: Place) -> tuple[int, int]:
    found = _HOURS.fullmatch(filled_text(value, at).replace(" ", ""))
    if found is None:
        raise at.mistake("is not a span of hours", 'Write it like "22:00-07:30".')
    first, minute, last, end = map(int, found.groups())
    return first * 60 + minute, last * 60 + end


def _endpoint(value: object, at: Place) -> str:
    found = filled_text(value, at)
    if not found.startswith(("http://", "https://")):
        raise at.mistake("must begin with http:// or https://")
    return found


NOTIFY: Mapping[str, Reader] = MappingProxyType(
    {
        "urls": list_of(filled_text),
        "events": list_of(one_of(OCCASIONS)),
        "quiet": _quiet,
        "failures": positive_number,
        "timeout": duration,
        "page": _endpoint,
    }
)

TELEMETRY: Mapping[str, Reader] = MappingProxyType(
    {"enabled": switch, "endpoint": _endpoint, "content": switch, "timeout": duration}
)
