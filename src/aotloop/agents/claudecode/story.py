"""What is known of an attempt from its events: which client, what it met, what it used, how it says that it ended."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from aotloop.agents.claudecode.events import Event
from aotloop.agents.claudecode.looking import count, number, part, parts, text
from aotloop.agents.contract import Tokens
from aotloop.agents.stopwatch import Stopwatch

_FIRST_PAUSE = 0.5
"""Seconds the client waits before its first retry if the service does not tell; twice as long before each other."""


_EDITING = frozenset({"Edit", "Write", "NotebookEdit"})


class Story:
    def __init__(self) -> None:
        self.version = ""
        self.session = ""
        self.result: Event | None = None
        """The last one."""
        self.breaks_off = False
        """After the last whole event there was the beginning of another."""
        self.trouble = ""
        """What the client calls the error it met last; empty if it went on since."""
        self.status: int | None = None
        self.is_waiting = False
        """For the time of its next retry, or for what that brings."""
        self._told_wait: float | None = None
        self._resets_at: float | None = None
        self._used: dict[str, Tokens] = {}
        self.watch = Stopwatch()

    def add(self, event: Event) -> None:
        self.breaks_off = False
        match event["type"], event.get("subtype"):
            case "system", "init":
                self.version = text(event.get("claude_code_version"))
                self.session = text(event.get("session_id"))
            case "system", "api_retry":
                self._retry(event)
            case "rate_limit_event", _:
                self._limit(part(event, "rate_limit_info"))
            case "assistant", _:
                self._met(text(event.get("error")), event.get("api_error_status"))
                if any(_is_edit(block) for block in parts(part(event, "message").get("content"))):
                    self.watch.change()
            case "stream_event", _:
                self._met("", None)
                self._count(event)
            case "result", _:
                self.result = event

    @property
    def retry_after(self) -> float | None:
        """Seconds, if the service told them."""
        if self._resets_at is not None:
            return max(0.0, self._resets_at - time.time())
        return self._told_wait

    @property
    def tokens(self) -> Tokens | None:
        """Of the replies seen so far; the client's own count comes with its result only."""
        return total(self._used.values()) if self._used else None

    def _retry(self, event: Event) -> None:
        self._met(text(event.get("error")), event.get("error_status"))
        self.is_waiting = True
        attempt, pause = count(event.get("attempt")), number(event.get("retry_delay_ms"))
        usual = _FIRST_PAUSE * 2 ** min(max(attempt - 1, 0), 20)
        if pause is not None and pause / 1000 > 1.5 * usual:
            self._told_wait = pause / 1000

    def _limit(self, limit: dict[str, Any]) -> None:
        if limit.get("status") == "rejected":
            self._resets_at = number(limit.get("resetsAt"))

    def _met(self, trouble: str, status: Any) -> None:
        self.trouble, self.is_waiting = trouble, False
        self.status = count(status) or None

    def _count(self, event: Event) -> None:
        inner = part(event, "event")
        reply = text(event.get("api_message_id")) or text(event.get("session_id"))
        used = part(inner, "usage") or part(inner, "message", "usage")
        if used:  # told when a reply begins, and once more when it ends
            self._used[reply] = Tokens(
                input=count(used.get("input_tokens")),
                output=count(used.get("output_tokens")),
                cache_read=count(used.get("cache_read_input_tokens")),
                cache_write=count(used.get("cache_creation_input_tokens")),
            )


def _is_edit(block: dict[str, Any]) -> bool:
    return block.get("type") == "tool_use" and text(block.get("name")) in _EDITING


def tokens_of(result: Event) -> Tokens:
    """Of all models, sub-agents included."""
    return total(
        Tokens(
            input=count(part(used).get("inputTokens")),
            output=count(part(used).get("outputTokens")),
            cache_read=count(part(used).get("cacheReadInputTokens")),
            cache_write=count(part(used).get("cacheCreationInputTokens")),
        )
        for used in part(result, "modelUsage").values()
    )


def total(some: Iterable[Tokens]) -> Tokens:
    used = list(some)
    return Tokens(
        input=sum(one.input for one in used),
        output=sum(one.output for one in used),
        cache_read=sum(one.cache_read for one in used),
        cache_write=sum(one.cache_write for one in used),
    )
