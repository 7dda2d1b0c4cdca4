"""A summary of an attempt's events: client, errors, usage, and the end that the client reports."""

from __future__ import annotations

from typing import Any

from aotloop.agents.attempt.attempt_output import Stopwatch
from aotloop.agents.attempt.usage import estimated_cost, highest, total
from aotloop.agents.claude.event_stream import Event, count, number, part, parts, text
from aotloop.agents.client.service_errors import Trouble, outcome_of_trouble
from aotloop.agents.contract import Cause, Outcome, Tokens
from aotloop.clock import unix_time
from aotloop.text.shorten import one_line

_FIRST_PAUSE = 0.5
"""Seconds the client waits before its first retry if the service does not tell; twice as long before each other."""


_EDITING = frozenset({"Edit", "Write", "NotebookEdit"})


class Story:
    def __init__(self) -> None:
        self.version = ""
        self.session = ""
        self.model = ""
        self.result: Event | None = None
        """The last result."""
        self.breaks_off = False
        """The last whole event was followed by the beginning of another."""
        self.trouble = ""
        """The client's name of its last error; empty if it went on since."""
        self.status: int | None = None
        self.is_waiting = False
        """The client waits for its next retry, or for the answer to it."""
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
                self.model = text(event.get("model"))
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
        """Seconds, if the service reported them."""
        if self._resets_at is not None:
            return max(0.0, self._resets_at - unix_time())
        return self._told_wait

    @property
    def tokens(self) -> Tokens | None:
        """Tokens of the replies so far; the client's own count comes only with its result."""
        return total(self._used.values()) if self._used else None

    @property
    def cost_usd(self) -> float | None:
        """An estimate by list prices, for an attempt without a result."""
        return estimated_cost(self.model, self.tokens)

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
        if used:  # reported when a reply begins, and again when it ends, then perhaps only in part
            now = Tokens(
                input=count(used.get("input_tokens")),
                output=count(used.get("output_tokens")),
                cache_read=count(used.get("cache_read_input_tokens")),
                cache_write=count(used.get("cache_creation_input_tokens")),
            )
            self._used[reply] = highest(self._used.get(reply, now), now)


def _is_edit(block: dict[str, Any]) -> bool:
    return block.get("type") == "tool_use" and text(block.get("name")) in _EDITING


def tokens_of(result: Event) -> Tokens:
    """Tokens of all models, sub-agents included."""
    return total(
        Tokens(
            input=count(part(used).get("inputTokens")),
            output=count(part(used).get("outputTokens")),
            cache_read=count(part(used).get("cacheReadInputTokens")),
            cache_write=count(part(used).get("cacheCreationInputTokens")),
        )
        for used in part(result, "modelUsage").values()
    )


LOG_IN = "Log in with `claude` and /login, or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN."
_WORDS: dict[Cause, str] = {
    "rate_limit": "a rate limit of the service",
    "overload": "the service is overloaded",
    "outage": "the service fails, or cannot be reached",
    "quota": "there is no credit left",
    "auth": "the service does not let it in",
    "refusal": "",
    "too_long": "it is too long for the model",
}
_OUTAGES = {"connection_failed", "stream_idle_timeout"}


def trouble_of(story: Story, result: Event | None) -> Outcome:
    """`result`: None if the client was still waiting when it was ended."""
    cause = _cause(story, result or {})
    said = one_line(text((result or {}).get("result")), 500)
    words = ": ".join(filter(None, (_WORDS[cause] if cause is not None else "Claude Code met an error", said)))
    after = story.retry_after if cause == "rate_limit" else None
    return outcome_of_trouble(Trouble(words=words, cause=cause, retry_after=after), LOG_IN)


def _cause(story: Story, result: Event) -> Cause | None:
    if text(result.get("stop_reason")) == "refusal":
        return "refusal"
    if text(result.get("terminal_reason")) == "prompt_too_long":
        return "too_long"
    kinds = {story.trouble, text(result.get("api_error")), text(result.get("api_error_type"))}
    status = count(result.get("api_error_status")) or story.status or 0
    if kinds & {"billing_error", "insufficient_quota"} or status == 402:
        return "quota"
    if kinds & {"authentication_failed", "authentication_error", "oauth_org_not_allowed"} or status in {401, 403}:
        return "auth"
    if not result and not status:
        return "outage"  # the client gives no name to a lost connection while it retries
    return _passing(kinds, status)


def _passing(kinds: set[str], status: int) -> Cause | None:
    """Errors that may be over soon. An error without a name is not one of them: the wait could be endless."""
    if status == 429 or kinds & {"rate_limit", "rate_limit_error"}:
        return "rate_limit"
    if status == 529 or kinds & {"overloaded", "overloaded_error"}:
        return "overload"
    if status >= 500 or kinds & {"server_error", *_OUTAGES}:
        return "outage"
    return None
