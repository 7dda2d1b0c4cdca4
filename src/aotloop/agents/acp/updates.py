"""Updates of an agent while it works (`session/update`): its last message, and lines for the person who watches.

A message ends when the agent calls a tool or begins another message. The answer is the last message.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.agents.answers.extraction import MOST_BYTES
from aotloop.agents.attempt.attempt_output import Stopwatch, Telling
from aotloop.process.output import Lines, Tail

_MOST_USD = 1e9
_CHANGES = ("edit", "delete", "move")


class Updates:
    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._telling = Telling(on_output)
        self._said = Tail(MOST_BYTES)
        self._lines = Lines()
        self._speaking: object = None
        self.in_a_row = 0
        """Messages since the last tool call: an agent that calls no tool has no reason to go on."""
        self.cost_usd: float | None = None
        self.watch = Stopwatch()

    @property
    def message(self) -> str:
        return self._said.text()

    @property
    def told(self) -> str:
        return self._telling.text

    def take(self, update: dict[str, Any]) -> None:
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                self._begin_unless(update.get("messageId"))
                self._says(_text(update.get("content")))
            case "tool_call":
                self._begin()
                self.in_a_row = 0
                if update.get("kind") in _CHANGES:
                    self.watch.change()
            case "tool_call_update" if str(update.get("status")) in {"completed", "failed"}:
                self._telling.tell(f"{update['status']}: {update.get('title') or update.get('kind') or 'a tool'}")
            case "tool_call_update":
                self._telling.tell(_deed(update))
            case "usage_update":
                self._costs(update.get("cost"))
            case _:
                pass

    def stray(self, line: str) -> None:
        """A line that is no message: some agents print such things."""
        if line.startswith("{"):  # a broken message: the last words of the agent are unknown
            self._said = Tail(MOST_BYTES)
        self._telling.tell(line)

    def end(self) -> None:
        for line in self._lines.end():
            self._telling.tell(line)

    def _begin_unless(self, message: object) -> None:
        """Some agents give each message a number."""
        if message is not None and message != self._speaking:
            self._begin()
            self._speaking = message
            self.in_a_row += 1

    def _begin(self) -> None:
        self.end()
        self._said = Tail(MOST_BYTES)

    def _says(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        self._said.add(data)
        for line in self._lines.add(data):
            self._telling.tell(line)

    def _costs(self, cost: Any) -> None:
        """The cost so far, which only grows. The agent reports zero for models with an unknown price."""
        amount = cost.get("amount") if isinstance(cost, dict) and cost.get("currency") == "USD" else None
        if isinstance(amount, int | float) and 0 <= amount < _MOST_USD:  # JSON may hold NaN and infinities
            self.cost_usd = max(float(amount), self.cost_usd or 0.0) or None


def _text(content: Any) -> str:
    text = content.get("text") if isinstance(content, dict) else None
    return text if isinstance(text, str) else ""


def _deed(update: dict[str, Any]) -> str:
    given = update.get("rawInput")
    command = given.get("command") if isinstance(given, dict) else None
    return f"$ {command}" if isinstance(command, str) else ""
