"""The context of a model, in tokens: what fits into it, and how it shrinks when the server refuses what was sent.

A server may read less than is configured, as one with the usual settings of its maker; only its refusal tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from aotloop.agents.client.service_errors import Trouble
from aotloop.agents.openai.messages import Message, estimated, fitting

_LEAST, _LEAST_ANSWER, _MOST_ANSWER = 1024, 64, 8192
_TOLD = re.compile(r"context (?:length|size|window)\D{0,20}(\d{3,8})", re.IGNORECASE)


class ContextWindow:
    def __init__(self, tokens: int, tell: Callable[[str], None]) -> None:
        self.tokens = tokens
        self._tell = tell

    @property
    def _most(self) -> int:
        """Tokens of one answer."""
        return max(256, min(_MOST_ANSWER, self.tokens // 3))

    def fitting(self, messages: Sequence[Message], tools: Any) -> list[Message]:
        return fitting(messages, self.tokens - self._most - estimated([], tools))

    def answer(self, messages: Sequence[Message], options: Any) -> int:
        """Tokens for an answer to these messages; 0: they are too long."""
        room = self.tokens - estimated(messages, options)
        return min(self._most, room) if room >= _LEAST_ANSWER else 0

    def is_shrunk_by(self, met: Trouble) -> bool:
        """Whether a shorter conversation may be what the server wants."""
        if met.cause != "too_long" or self.tokens <= _LEAST:
            return False
        told = [int(digits) for digits in _TOLD.findall(met.words) if int(digits) < self.tokens]
        self.tokens = max(_LEAST, told[0] if told else self.tokens // 2)
        self._tell(f"(the server reads less than is configured; tried now: context = {self.tokens})")
        return True
