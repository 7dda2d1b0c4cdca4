"""One session of the Agent Client Protocol, from `initialize` to the end of one prompt.

Only five methods are needed, so they stand here and need no library. Unknown messages are ignored, and everything that
is kept of an agent's messages is bounded.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from aotloop.agents.acp.permission_requests import decision, grounds_of, read_file, write_file
from aotloop.agents.acp.rpc import Rpc, as_dict
from aotloop.agents.acp.updates import Updates
from aotloop.agents.attempt.usage import Price, cost_of, tokens_since
from aotloop.agents.client.service_errors import Trouble, trouble
from aotloop.agents.contract import Assignment, Tokens
from aotloop.agents.roles import may_write
from aotloop.process.transport import JsonLines, Transport

_VERSION = 1
_GOODBYE_SECONDS = 2.0
"""How long an agent may take to end when its input is closed."""
_LATE_SECONDS = 1.0
"""The log is faster than the messages: a message that comes so soon after a log entry was sent before it."""
_MOST_IN_A_ROW = 20
"""The most messages without a tool call. OpenCode asks again without end when a reply ends too early."""
_NO_LOGIN = -32000


class AcpSession:
    def __init__(
        self,
        assignment: Assignment,
        on_output: Callable[[str], None],
        *,
        model: str | None = None,
        patience: float = 60.0,
        price: Price | None = None,
        hint_of_trouble: Callable[[str], Trouble | None] = lambda _: None,
    ) -> None:
        """`hint_of_trouble` reads a line of the agent's log: which service it waits for, and for how many seconds."""
        self._assignment = assignment
        self._grounds = grounds_of(assignment.cwd, assignment.confinement)
        self._model = model
        self._patience = patience
        self._price = price
        self._counted: Tokens | None = None
        self._hint_of_trouble = hint_of_trouble
        self._log = JsonLines()
        self._giving_up: asyncio.TimerHandle | None = None
        self._met_at = -math.inf
        self._session: Any = None
        self._is_opening = False
        self._before = assignment.sitting.session if assignment.sitting is not None else None
        self.updates = Updates(on_output)
        self._rpc = Rpc(self._serve, self._fails, self.updates.stray)
        self.stop_reason: str | None = None
        self.tokens: Tokens | None = None
        self.trouble: Trouble | None = None

    @property
    def name(self) -> str | None:
        """The name of the conversation."""
        return self._session if isinstance(self._session, str) else None

    @property
    def notes(self) -> tuple[str, ...]:
        left_out = self._rpc.left_out
        return (f"{left_out} of its messages were too long to be read",) if left_out else ()

    # --- messages that arrive ---------------------------------------------------------------------------------------

    def begin(self, transport: Transport) -> None:
        self._transport = transport
        self.updates.watch.begin()
        self._rpc.begin(transport)
        can_write = may_write(self._assignment.role)
        files = {"readTextFile": True, "writeTextFile": can_write}
        us = {"name": "aotloop", "version": "1"}
        capabilities = {"fs": files, "terminal": False}
        parameters = {"protocolVersion": _VERSION, "clientCapabilities": capabilities, "clientInfo": us}
        self._rpc.call("initialize", parameters, self._initialized)

    def hear(self, stream: str, chunk: bytes) -> None:
        if stream == "stdout":
            self._rpc.hear(chunk)
            return
        for line in self._log.add(chunk):
            met = self._hint_of_trouble(line) if isinstance(line, str) else None
            if met is not None:
                self._waits_for(met)

    # --- our requests -----------------------------------------------------------------------------------------------

    def _initialized(self, result: dict[str, Any]) -> None:
        if result.get("protocolVersion") != _VERSION:
            self.trouble = Trouble(words=f"it speaks version {result.get('protocolVersion')} of the protocol, not 1")
            self._transport.finish(_GOODBYE_SECONDS)
            return
        self._is_opening = True
        place = {"cwd": str(self._assignment.cwd), "mcpServers": []}
        if self._before is None:
            self._rpc.call("session/new", place, self._opened)
        else:
            self._rpc.call("session/resume", {"sessionId": self._before.id, **place}, self._opened)

    def _opened(self, result: dict[str, Any]) -> None:
        self._is_opening = False
        self._session = result.get("sessionId") if self._before is None else self._before.id
        if self._model is None:
            self._prompt({})
            return
        offered = result.get("configOptions")
        options = (
            [option for option in offered if as_dict(option).get("category") == "model"]
            if isinstance(offered, list)
            else []
        )
        if options:
            chosen = {"configId": options[0].get("id"), "value": self._model}
            self._rpc.call("session/set_config_option", {"sessionId": self._session, **chosen}, self._prompt)
        else:
            self._rpc.call("session/set_model", {"sessionId": self._session, "modelId": self._model}, self._prompt)

    def _prompt(self, _: dict[str, Any]) -> None:
        text = {"type": "text", "text": self._assignment.prompt.encode("utf-8", "replace").decode()}
        self._rpc.call("session/prompt", {"sessionId": self._session, "prompt": [text]}, self._ended)

    def _ended(self, result: dict[str, Any]) -> None:
        self._goes_on()
        self.updates.end()
        self.stop_reason = str(result.get("stopReason"))
        self.tokens = _tokens(as_dict(result.get("usage")))
        self._transport.finish(_GOODBYE_SECONDS)

    def _fails(self, error: dict[str, Any]) -> None:
        words = f"{error.get('message')} {as_dict(error.get('data')) or ''}".strip()
        self.updates.end()
        self.updates.stray(words)
        self.trouble = trouble(words, 401 if error.get("code") == _NO_LOGIN else None)
        if self._is_opening and self._before is not None and self.trouble.cause != "auth":
            self.trouble = replace(self.trouble, cause="no_session")
        self._transport.finish(_GOODBYE_SECONDS)

    # --- requests of the agent --------------------------------------------------------------------------------------

    def _serve(self, method: str, asked: dict[str, Any]) -> dict[str, Any] | None:
        role, grounds = self._assignment.role, self._grounds
        match method:
            case "session/update":
                self._hears_of(as_dict(asked.get("update")))
                return {}
            case "session/request_permission":
                return decision(role, grounds, asked)
            case "fs/read_text_file":
                return read_file(grounds, asked)
            case "fs/write_text_file":
                return write_file(role, grounds, asked)
            case _:
                return None

    def _hears_of(self, update: dict[str, Any]) -> None:
        is_late = time.monotonic() < self._met_at + _LATE_SECONDS
        if str(update.get("sessionUpdate")).startswith(("agent_", "tool_")) and not is_late:
            self._goes_on()
        self.updates.take(update)
        if self.updates.in_a_row > _MOST_IN_A_ROW:
            self._call_off(Trouble(words="the model's replies break off, again and again", cause="outage"))
        self._pay()

    def count(self, tokens: Tokens | None) -> None:
        """What its whole conversation has used by now, where that is known before its end."""
        if tokens is not None:
            self._counted = tokens_since(self._before.tokens if self._before is not None else None, tokens)
            self._pay()

    def _pay(self) -> None:
        """At the share of the money, the attempt ends."""
        most, cost = self._assignment.max_cost_usd, self.updates.cost_usd
        if cost is not None and self._before is not None:
            cost -= self._before.cost_usd or 0.0
        if cost is None and self._counted is not None and self._price is not None:
            cost = cost_of(self._counted, self._price)
        if (cost is not None or self._counted is not None) and self._assignment.meter is not None:
            self._assignment.meter.read(self._counted, cost)
        if most is not None and cost is not None and cost > most and self.stop_reason is None:
            self._call_off(Trouble(words=f"it used up the ${most} that it may cost", cause="budget"))

    def _call_off(self, met: Trouble) -> None:
        self.trouble = met
        self._transport.stop_in(0)

    # --- a service that makes the agent wait ------------------------------------------------------------------------

    def _waits_for(self, met: Trouble) -> None:
        self.trouble, self._met_at = met, time.monotonic()
        self.updates.stray(met.words)
        if self._giving_up is None:
            self._giving_up = self._transport.stop_in(self._patience)

    def _goes_on(self) -> None:
        self.trouble = None
        if self._giving_up is not None:
            self._giving_up.cancel()
            self._giving_up = None


def _tokens(usage: dict[str, Any]) -> Tokens | None:
    numbers = {key: value for key, value in usage.items() if isinstance(value, int)}
    if not numbers:
        return None
    return Tokens(
        input=numbers.get("inputTokens", 0),
        output=numbers.get("outputTokens", 0) + numbers.get("thoughtTokens", 0),
        cache_read=numbers.get("cachedReadTokens", 0),
        cache_write=numbers.get("cachedWriteTokens", 0),
    )
