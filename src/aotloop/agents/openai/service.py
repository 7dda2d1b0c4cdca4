"""The service behind an endpoint: one request at a time, streamed, counted and bounded. Only this module asks a server.

A request that the server cannot take in part (an option it does not know) is repeated without that part. A connection
that breaks is tried again a few times. Everything else ends the attempt, with its cause in the words of the others.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from typing import Any

import httpx2
import msgspec
import openai
from msgspec.structs import replace

from aotloop.agents.attempt.usage import total
from aotloop.agents.client.service_errors import Trouble, trouble
from aotloop.agents.contract import Tokens
from aotloop.agents.openai.endpoint_errors import (
    Unable,
    Unusable,
    not_a_stream,
    refused,
    trouble_in,
    unreachable,
    words_in,
    words_of,
)
from aotloop.agents.openai.local_servers import names_in
from aotloop.agents.openai.messages import Called, Message, estimated
from aotloop.agents.openai.order import Endpoint, without
from aotloop.agents.openai.reply import Collected, ReplyLines
from aotloop.agents.openai.request import RequestParts
from aotloop.agents.openai.server_events import ServerEvents, bounded

_TRIES = 3
_PAUSE = 0.5
_LONGEST_ANSWER = 400_000
_MOST_EVENTS = 400_000
_NOT_FOR_CHAT = re.compile(r"embed|rerank|whisper|\btts\b", re.IGNORECASE)
_LOCAL = ("127.0.0.1", "localhost", "[::1]")
_SILENT = Trouble(words="the service fell silent", cause="outage")
_CUT = Trouble(words="the connection broke off in the middle of the answer", cause="outage")


class Said(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    calls: tuple[Called, ...] = ()
    is_cut: bool = False
    """It reached the limit of tokens."""


class Service:
    def __init__(
        self,
        endpoint: Endpoint,
        key: str | None,
        silence: float,
        tell: Callable[[str], None],
        on_use: Callable[[Tokens, float | None], None] = lambda *_: None,
    ) -> None:
        """`tell` gets the words of the model while they come, `on_use` tokens and cost so far, estimated meanwhile."""
        self._endpoint, self._key = endpoint, key
        self._tell, self._on_use = tell, on_use
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=endpoint.address,
            max_retries=0,
            timeout=openai.Timeout(silence, connect=10.0),
            http_client=openai.DefaultHttpxClient(
                mounts={f"all://{host}": None for host in _LOCAL},  # no proxy
                event_hooks={"response": [bounded]},
            ),
        )
        self._parts = RequestParts(endpoint.temperature)
        self._model = endpoint.model
        self.tokens = Tokens()
        self.cost: float | None = None
        """USD, as far as the service told it."""
        self.turns = 0
        self.is_estimated = False
        """The server did not say how many tokens some request took."""

    def ask(self, messages: list[Message], most: int, **options: Any) -> Said:
        """`most`: tokens of the answer. Raises Unable, Unusable and NoTools."""
        for number in range(_TRIES):
            try:
                return self._asked(messages, most, options)
            except Unable as unable:
                is_passing = unable.trouble.cause in {"outage", "overload"} and unable.trouble is not _SILENT
                if not is_passing or number == _TRIES - 1:
                    raise
                self._tell(f"(the service fails, and is asked again: {unable.trouble.words})")
                time.sleep(_PAUSE * 2**number * random.uniform(0.8, 1.2))  # noqa: S311 - spreads the load
        raise AssertionError

    def _asked(self, messages: list[Message], most: int, options: dict[str, Any]) -> Said:
        while True:
            request = self._parts.request(messages, most, options)
            collected = Collected()
            try:
                met = self._received(collected, messages, request)
            except openai.APIStatusError as error:
                if self._parts.can_do_without(error.status_code, words_of(error), request):
                    continue
                met = refused(error, self._endpoint.address, self._model)
            if met is None:
                return self._counted(collected, messages)
            if collected.is_any:  # what was said before it broke off has been paid for
                self._count(collected, messages)
            if isinstance(met, Unusable) and self.turns:  # it has answered before: it is out of order now
                met = Unable(trouble_in(str(met)))
            raise met from None

    def _received(
        self, collected: Collected, messages: list[Message], request: dict[str, Any]
    ) -> Unable | Unusable | None:
        """What went wrong on the way."""
        try:
            self._receive(collected, messages, request)
        except (openai.APITimeoutError, httpx2.TimeoutException):
            return Unable(_SILENT)
        except (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError) as error:
            return unreachable(error, self._endpoint.address)
        except ValueError as error:
            return Unable(trouble_in(f"the server's reply makes no sense: {type(error).__name__}"))
        except (Unable, Unusable) as known:
            return known
        return None if collected.is_whole else Unable(_CUT)

    def _receive(self, collected: Collected, messages: list[Message], request: dict[str, Any]) -> None:
        create = self._client.chat.completions.with_streaming_response.create
        with create(model=self.model, **request) as response:
            events = ServerEvents(response.iter_bytes())
            lines = ReplyLines(self._tell, lambda: self._on_use(self._with(collected, messages), self.cost))
            for number, event in enumerate(events):
                if (words := words_in(event)) is not None:
                    raise Unable(trouble_in(words))
                lines.add(collected.add(event))
                if collected.size > _LONGEST_ANSWER or number > _MOST_EVENTS:
                    collected.finish = "length"
                    break
            if not collected.is_any and events.stray:
                kind = response.headers.get("content-type", "")
                lines.add(collected.add(self._whole(events.stray, kind)))
            lines.end()
        if events.is_done and collected.is_any:
            collected.finish = collected.finish or "stop"

    def _whole(self, text: str, kind: str) -> Any:
        """The answer of a server that does not stream."""
        if text.startswith("error:"):  # as older servers of llama.cpp end a stream
            raise Unable(trouble_in(text))
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and found.get("choices"):
            return found
        words = words_in(found) or ""
        if words and trouble(words).cause is not None:
            raise Unable(trouble_in(words))
        raise Unusable(not_a_stream(self._endpoint.address, kind, words or text))

    @property
    def model(self) -> str:
        if self._model is None:
            name = next((name for name in self._models() if not _NOT_FOR_CHAT.search(name)), None)
            if name is None:
                raise Unusable(f"the server at {self._endpoint.address} lists no model; name one: model = …")
            self._model = name
        return self._model

    def _models(self) -> tuple[str, ...]:
        """A server need not have a list of its models."""
        try:
            return names_in(json.loads(self._client.models.with_raw_response.list().text)) or ()
        except (ValueError, RecursionError):
            return ()
        except openai.APIStatusError as error:
            if error.status_code in {401, 403, 429} or error.status_code >= 500:
                raise
            return ()

    def _counted(self, collected: Collected, messages: list[Message]) -> Said:
        self.turns += 1
        self._count(collected, messages)
        if collected.refusal or collected.finish == "content_filter":
            words = collected.refusal or collected.text[:200] or "no reason"
            raise Unable(Trouble(words=words, cause="refusal"))
        made = collected.calls(self.turns)
        calls = tuple(replace(call, arguments=without(call.arguments, self._key)) for call in made)
        return Said(text=without(collected.text, self._key), calls=calls, is_cut=collected.finish == "length")

    def _count(self, collected: Collected, messages: list[Message]) -> None:
        self.is_estimated = self.is_estimated or collected.usage is None
        self.tokens = self._with(collected, messages)
        if collected.cost is not None:
            self.cost = (self.cost or 0.0) + collected.cost
        self._on_use(self.tokens, self.cost)

    def _with(self, collected: Collected, messages: list[Message]) -> Tokens:
        used = collected.usage or Tokens(input=estimated(messages), output=collected.estimate)
        return total((self.tokens, used))
