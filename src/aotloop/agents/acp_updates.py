"""What an agent says and does while it works (`session/update`): its last message, and lines for whoever watches.

A message ends where a tool is called or another begins: the answer is what was said last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop.agents.answers import MOST_BYTES
from aotloop.agents.stopwatch import Stopwatch
from aotloop.agents.streams import Lines, Tail
from aotloop.agents.telling import Telling

_MOST_USD = 1e9
_CHANGES = ("edit", "delete", "move")


class Updates:
    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._telling = Telling(on_output)
        self._said = Tail(MOST_BYTES)
        self._lines = Lines()
        self._speaking: object = None
        self.in_a_row = 0
        """Messages since a tool was called: who does not call one has no reason to go on."""
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
        if line.startswith("{"):  # a message broken off: what it said last cannot be known
            self._said = Tail(MOST_BYTES)
        self._telling.tell(line)

    def end(self) -> None:
        for line in self._lines.end():
            self._telling.tell(line)

    def _begin_unless(self, message: object) -> None:
        """Some agents number their messages."""
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
        """So far. Nothing is what it says of models whose price it does not know."""
        amount = cost.get("amount") if isinstance(cost, dict) and cost.get("currency") == "USD" else None
        if isinstance(amount, int | float) and 0 <= amount < _MOST_USD:  # JSON of others has NaN and infinities, too
            self.cost_usd = float(amount) or None


def _text(content: Any) -> str:
    text = content.get("text") if isinstance(content, dict) else None
    return text if isinstance(text, str) else ""


def _deed(update: dict[str, Any]) -> str:
    given = update.get("rawInput")
    command = given.get("command") if isinstance(given, dict) else None
    return f"$ {command}" if isinstance(command, str) else ""
