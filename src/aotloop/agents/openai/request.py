"""A request to a server: a part that the server refuses is left out for the rest of the attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from aotloop.agents.client.service_errors import trouble
from aotloop.agents.openai.messages import Message, user

_PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "system": ("system role", "system message", "user and assistant roles", "must alternate"),
        "max_tokens": ("max_tokens", "max_completion_tokens", "in the completion"),
        "temperature": ("temperature",),
        "stream_options": ("stream_options", "include_usage"),
        "stream": ("to stream", "streaming", "'stream'"),
        "response_format": ("response_format", "json_schema", "grammar"),
        "tools": ("tool", "function call", "jinja", "must alternate"),
    }
)
"""Parts that some servers refuse → words of their refusal. `system`: the first message, if it is one of the system."""
_STATUSES = frozenset((400, 404, 422, 500, 501))


class NoTools(Exception):  # noqa: N818 - reads as a sentence where it is caught
    """The server, or its model, has no tools."""


class RequestParts:
    def __init__(self, temperature: float | None) -> None:
        self._temperature = temperature
        self._left_out: set[str] = set()

    def request(self, messages: Sequence[Message], most: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """`most`: tokens of the answer."""
        wanted = {
            "messages": self._written(messages),
            "stream": True,
            "max_tokens": most,
            "temperature": self._temperature,
            "stream_options": {"include_usage": True},
            **options,
        }
        left_out = {*self._left_out, *(("stream_options",) if "stream" in self._left_out else ())}
        request = {name: value for name, value in wanted.items() if value is not None and name not in left_out}
        if "max_tokens" in left_out and "max_completion_tokens" not in left_out:
            request["max_completion_tokens"] = most
        return request

    def can_do_without(self, status: int, words: str, request: Mapping[str, Any]) -> bool:
        """Leaves out the part that the server complains of. Raises NoTools."""
        if status not in _STATUSES:
            return False
        is_too_long = trouble(words).cause == "too_long"
        sent = {*request, request["messages"][0]["role"]}
        sent |= {"max_tokens"} if "max_completion_tokens" in request else set()
        for part, names in _PARTS.items():
            if (
                part in sent
                and any(name in words.lower() for name in names)
                and not (is_too_long and part != "max_tokens")
            ):
                if part == "tools":
                    raise NoTools(words)
                is_second_name = part == "max_tokens" and part in self._left_out
                self._left_out.add("max_completion_tokens" if is_second_name else part)
                return True
        return False

    def _written(self, messages: Sequence[Message]) -> list[Message]:
        """Some models know no system message: their user says it."""
        first, *others = messages
        if "system" not in self._left_out or first["role"] != "system":
            return [*messages]
        second, *more = others
        return [user(f"{first['content']}\n\n{second['content']}"), *more]
