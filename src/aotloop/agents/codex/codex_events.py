"""Events of `codex exec --json`: the last message is the answer, the last event says how the turn ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from aotloop.agents.attempt.attempt_output import Stopwatch, Telling
from aotloop.agents.attempt.usage import Price, cost_of, highest, tokens_since
from aotloop.agents.client.service_errors import Trouble, trouble
from aotloop.agents.codex.rollout import tokens_in
from aotloop.agents.contract import Meter, Tokens
from aotloop.process.transport import JsonLines, Transport

_RETRYING = "Reconnecting"


class CodexEvents:
    def __init__(
        self,
        on_output: Callable[[str], None],
        patience: float,
        meter: Meter | None = None,
        *,
        before: Tokens | None = None,
        most_usd: float | None = None,
        price: Price | None = None,
    ) -> None:
        """`patience`: the most seconds of waiting for a service that said to come back later.

        `before`: what its conversation had used before. `most_usd`: where the attempt is ended, if there is a price.
        """
        self._lines = JsonLines()
        self._telling = Telling(on_output)
        self._patience = patience
        self._meter = meter if meter is not None else Meter()
        self._before, self._most_usd, self._price = before, most_usd, price
        self._is_called_off = False
        self._transport: Transport | None = None
        self._giving_up: asyncio.TimerHandle | None = None
        self._has_retried = False
        self.message: str | None = None
        self.tokens: Tokens | None = None
        self.trouble: Trouble | None = None
        """The last error, if it is not over."""
        self.is_complete = False
        self.session: str | None = None
        self.watch = Stopwatch()
        self.on_event: Callable[[], None] = lambda: None

    @property
    def told(self) -> str:
        return self._telling.text

    @property
    def notes(self) -> tuple[str, ...]:
        count = self._lines.left_out
        return (f"{count} of its events were too long to be read",) if count else ()

    def begin(self, transport: Transport) -> None:
        self._transport = transport
        self.watch.begin()

    def hear(self, stream: str, chunk: bytes) -> None:
        if stream == "stdout":
            for event in self._lines.add(chunk):
                self._take(event)
            self.on_event()

    def count(self, used: Tokens | None) -> None:
        """What its whole conversation has used by now. At the share of the money, the attempt ends."""
        if used is None:
            return
        self.tokens = highest(self.tokens, used) if self.tokens is not None else used
        own = tokens_since(self._before, self.tokens)
        self._meter.read(own)
        if self._most_usd is None or self._price is None or own is None or self.is_complete or self._is_called_off:
            return
        if cost_of(own, self._price) >= self._most_usd and self._transport is not None:
            self._is_called_off = True
            self.trouble = Trouble(words=f"it used up the ${self._most_usd:g} that it may cost", cause="budget")
            self._transport.stop_in(0)

    def _take(self, event: dict[str, Any] | str) -> None:
        if isinstance(event, str):
            if event.startswith("{"):  # broken off: the last words of the agent are unknown
                self.message = None
            self._telling.tell(event)
            return
        kind, item = event.get("type"), event.get("item")
        if kind == "thread.started":
            self.session = str(event.get("thread_id"))
        elif kind == "error":
            self._meets(str(event.get("message")))
        elif kind == "turn.failed":
            self._fails(event)
        elif kind == "turn.completed":
            self._goes_on()
            self.is_complete = True
            self.count(tokens_in(event.get("usage")))
        elif isinstance(item, dict):
            self._goes_on()
            self._telling.tell(_in_words(str(kind), item))
            if item.get("type") == "file_change":
                self.watch.change()
            if item.get("type") == "agent_message" and kind == "item.completed":
                self.message = str(item.get("text", ""))

    def _meets(self, words: str) -> None:
        """An error is not the end: Codex retries, and the next event shows the result."""
        self._telling.tell(words)
        self.trouble = trouble(words)
        self._has_retried = self._has_retried or words.startswith(_RETRYING)
        if words.startswith(_RETRYING) and self.trouble.cause == "rate_limit":
            self._give_up_later()

    def _give_up_later(self) -> None:
        """Codex waits as long as the service says, even for days, and does not report how long."""
        if self._transport is not None and self._giving_up is None:
            self._giving_up = self._transport.stop_in(self._patience)

    def _fails(self, event: dict[str, Any]) -> None:
        error = event.get("error")
        met = trouble(str(error.get("message") if isinstance(error, dict) else error))
        # A retry without an explanation means that the service cannot be reached.
        self.trouble = replace(met, cause="outage") if met.cause is None and self._has_retried else met

    def _goes_on(self) -> None:
        if self._is_called_off:
            return
        self.trouble, self._has_retried = None, False
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None


def _in_words(kind: str, item: dict[str, Any]) -> str:
    """Empty for events without interest for the person who watches."""
    is_over = kind == "item.completed"
    match item.get("type"):
        case "agent_message" | "reasoning" | "error" if is_over:
            return str(item.get("text") or item.get("message") or "")
        case "command_execution" if not is_over:
            return f"$ {item.get('command')}"
        case "command_execution" if item.get("exit_code"):
            return f"exit {item.get('exit_code')}"
        case "file_change" if is_over:
            return _changes(item.get("changes"))
        case "mcp_tool_call" | "web_search" if not is_over:
            return f"{item.get('type')} {item.get('tool') or item.get('query') or ''}"
        case _:
            return ""


def _changes(changes: Any) -> str:
    valid = [change for change in changes if isinstance(change, dict)] if isinstance(changes, list) else []
    return "\n".join(f"{change.get('kind')} {change.get('path')}" for change in valid)
