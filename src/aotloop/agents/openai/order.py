"""The order for the agent's process: all that it needs, on its standard input. The key stands nowhere else.

A key in the environment or in the arguments would be readable by every command that the process starts.
"""

from __future__ import annotations

import json
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from aotloop.agents.attempt.usage import Price
from aotloop.agents.roles import Role
from aotloop.text.hosts import is_loopback

Tools = Literal["auto", "yes", "no"]

TROUBLE, UNFIT, UNUSABLE = "trouble", "unfit", "unusable"
"""Keys of a result: why the service could not be used; why the model's words are no result; which setting is wrong. No
role has them.
"""
METER = "\x1f"
"""The first character of a line that tells what was used so far. No other line has it."""
_HIDDEN = "[key]"
USUAL_CONTEXT = 16_384
"""Tokens that the model can read and write together, if the configuration does not say how many."""
USUAL_URL = "http://127.0.0.1:11434/v1"
"""Where Ollama listens."""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    base_url: str = USUAL_URL
    model: str | None = None
    """None: the first model that the server lists."""
    temperature: float | None = None
    """None: the server's own."""
    context: int = USUAL_CONTEXT
    tools: Tools = "auto"

    @property
    def is_local(self) -> bool:
        return is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def address(self) -> str:
        """An address without a path means the usual one. The path of the request itself is not a part of it."""
        url = self.base_url.rstrip("/").removesuffix("/chat/completions")
        return url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/v1"


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A command of the atom's check, which a person has accepted."""

    name: str
    command: str
    succeeds: bool = True
    """Whether exit 0 is what is wanted."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    role: Role
    prompt: str
    endpoint: Endpoint
    key: str | None = None
    result_file: str
    result_schema: dict[str, Any] = {}
    trials: tuple[Trial, ...] = ()
    named_files: tuple[str, ...] = ()
    """Files that the atom is planned to change."""
    max_cost_usd: float | None = None
    price: Price | None = None
    most_turns: int = 40
    silence: float = 600.0
    """Seconds without a byte from the server after which the connection is given up."""


def without(text: str, key: str | None) -> str:
    """A server may repeat the key: in an error, or as a word of its model."""
    for secret in (key, json.dumps(key)[1:-1]) if key else ():
        text = text.replace(secret, _HIDDEN)
    return text


def order_from(text: bytes) -> Order:
    return msgspec.json.decode(text, type=Order)


def trials_as_told(order: Order) -> str:
    return "\n".join(f"- {trial.command}" + ("" if trial.succeeds else " (it must fail)") for trial in order.trials)
