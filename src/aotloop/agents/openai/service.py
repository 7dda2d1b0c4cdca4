"""The service behind an endpoint: one request at a time, streamed, counted and bounded. Only this module uses `openai`.

A request that the server cannot take in part (an option it does not know) is repeated without that part. A connection
that breaks is tried again a few times. Everything else ends the attempt, with its cause in the words of the others.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec
import openai

from aotloop.agents.contract import Tokens
from aotloop.agents.openai.order import Endpoint
from aotloop.agents.openai.reply import Collected, ReplyLines
from aotloop.agents.service_errors import Trouble, trouble

Message = dict[str, Any]

OPTIONS = {
    "max_tokens": ("max_tokens", "max_completion_tokens"),
    "temperature": ("temperature",),
    "stream_options": ("stream_options", "include_usage"),
    "response_format": ("response_format", "json_schema", "grammar"),
    "tools": ("tool", "function call", "jinja"),
}
"""Parts of a request that some servers refuse → words of their refusal."""
_TRIES = 3
_PAUSE = 0.5
_CHARACTERS_PER_TOKEN = 3.5
_LONGEST_ANSWER = 400_000


class Unable(Exception):  # noqa: N818 - reads as a sentence where it is caught
    """The service cannot go on; the trouble says why."""

    def __init__(self, met: Trouble) -> None:
        super().__init__(met.words)
        self.trouble = met


class NoTools(Exception):  # noqa: N818 - reads as a sentence where it is caught
    """The server, or its model, has no tools."""


class Called(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call, as the model wrote it."""

    id: str
    name: str
    arguments: str


class Said(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    calls: tuple[Called, ...] = ()
    is_cut: bool = False
    """It reached the limit of tokens."""


class Service:
    def __init__(self, endpoint: Endpoint, key: str | None, silence: float, tell: Callable[[str], None]) -> None:
        """`tell` gets the words of the model while they come."""
        self._endpoint = endpoint
        self._tell = tell
        self._client = openai.OpenAI(
            api_key=key or "none",
            base_url=endpoint.base_url,
            max_retries=0,
            timeout=openai.Timeout(silence, connect=10.0),
        )
        self._left_out: set[str] = set()
        self._model = endpoint.model
        self.tokens = Tokens()
        self.turns = 0
        self.is_estimated = False
        """The server did not say how many tokens some request took."""

    def ask(self, messages: list[Message], most: int, **options: Any) -> Said:
        """`most`: tokens of the answer. Raises Unable, and NoTools."""
        for number in range(_TRIES):
            try:
                return self._asked(messages, most, options)
            except Unable as unable:
                if unable.trouble.cause not in {"outage", "overload"} or number == _TRIES - 1:
                    raise
                self._tell(f"(the service fails, and is asked again: {unable.trouble.words})")
                time.sleep(_PAUSE * 2**number * random.uniform(0.8, 1.2))  # noqa: S311 - spreads the load
        raise AssertionError

    def _asked(self, messages: list[Message], most: int, options: dict[str, Any]) -> Said:
        while True:
            request = self._request(most, options)
            collected = Collected()
            try:
                self._receive(collected, messages, request)
            except openai.APIStatusError as error:
                if not self._can_do_without(error, request):
                    raise Unable(_trouble_of(error)) from None
                continue
            except openai.APITimeoutError:
                raise Unable(trouble("the service sent nothing for too long: time-out")) from None
            except openai.APIConnectionError as error:
                raise Unable(_no_connection(self._endpoint.base_url, error)) from None
            except openai.APIError as error:  # an error that comes as an event of the stream
                raise Unable(_trouble_in(str(error))) from None
            except (ValueError, AttributeError, TypeError, IndexError) as error:
                words = f"the server's reply makes no sense: {type(error).__name__}"
                raise Unable(Trouble(words=words, cause="outage")) from None
            return self._counted(collected, messages)

    def _request(self, most: int, options: dict[str, Any]) -> dict[str, Any]:
        wanted = {
            "max_tokens": most,
            "temperature": self._endpoint.temperature,
            "stream_options": {"include_usage": True},
            **options,
        }
        request = {name: value for name, value in wanted.items() if value is not None and name not in self._left_out}
        if "max_tokens" in self._left_out and "max_completion_tokens" not in self._left_out:
            request["max_completion_tokens"] = most
        return request

    def _receive(self, collected: Collected, messages: list[Message], request: dict[str, Any]) -> None:
        stream: openai.Stream[Any] = self._client.chat.completions.create(
            model=self.model, messages=cast("Any", messages), stream=True, **request
        )
        lines = ReplyLines(self._tell)
        with stream:
            for chunk in stream:
                lines.add(collected.add(chunk))
                if collected.size > _LONGEST_ANSWER:
                    collected.finish = "length"
                    break
        lines.end()

    @property
    def model(self) -> str:
        if self._model is None:
            found = next(iter(self._client.models.list().data), None)
            if found is None:
                raise Unable(Trouble(words=f"the server at {self._endpoint.base_url} has no model"))
            self._model = found.id
        return self._model

    def _can_do_without(self, error: openai.APIStatusError, request: dict[str, Any]) -> bool:
        """Leaves out the part that the server complains of, for the rest of the attempt. Raises NoTools."""
        if error.status_code not in {400, 404, 422, 500, 501}:
            return False
        words = str(error).lower()
        sent = {**request, **({"max_tokens": 0} if "max_completion_tokens" in request else {})}
        for option, names in OPTIONS.items():
            if option in sent and any(name in words for name in names):
                if option == "max_tokens" and option in self._left_out:
                    option = "max_completion_tokens"  # noqa: PLW2901
                if option == "tools":
                    raise NoTools(words)
                self._left_out.add(option)
                return True
        return False

    def _counted(self, collected: Collected, messages: list[Message]) -> Said:
        text = "".join(collected.text)
        self.turns += 1
        self._count(collected, messages)
        if collected.refusal or collected.finish == "content_filter":
            raise Unable(Trouble(words="".join(collected.refusal) or text[:200] or "no reason", cause="refusal"))
        if collected.finish is None:
            raise Unable(Trouble(words="the connection broke off in the middle of the answer", cause="outage"))
        calls = tuple(
            Called(id=one["id"] or f"call_{number}", name=one["name"], arguments=one["arguments"])
            for number, one in sorted(collected.calls.items())
        )
        return Said(text=text, calls=calls, is_cut=collected.finish == "length")

    def _count(self, collected: Collected, messages: list[Message]) -> None:
        usage = collected.usage
        given, made = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None) or 0
        if not isinstance(given, int) or not isinstance(made, int) or min(given, made, given - cached) < 0:
            given, made, cached = estimated(messages), round(collected.size / _CHARACTERS_PER_TOKEN), 0
            self.is_estimated = True
        before = self.tokens
        self.tokens = Tokens(
            input=before.input + given - cached,
            output=before.output + made,
            cache_read=before.cache_read + cached,
        )


def estimated(messages: list[Message]) -> int:
    """Tokens, roughly: for servers that do not count, and before a request."""
    return round(sum(map(len, _texts(messages))) / _CHARACTERS_PER_TOKEN) + 8 * len(messages)


def _texts(messages: list[Message]) -> Iterator[str]:
    for message in messages:
        yield message.get("content") or ""
        yield from (call["function"]["arguments"] for call in message.get("tool_calls") or ())


def _no_connection(url: str, error: Exception) -> Trouble:
    why = str(error.__cause__ or error)
    return Trouble(words=f"no server answers at {url}: {why[:200]}", cause="outage")


def _trouble_of(error: openai.APIStatusError) -> Trouble:
    body = error.body if isinstance(error.body, dict) else {}
    words = str(body.get("message") or error)
    code = str(body.get("code") or "")
    return trouble(f"{words} ({code})" if code and code not in words else words, error.status_code, _told_wait(error))


def _trouble_in(words: str) -> Trouble:
    met = trouble(words)
    return met if met.cause is not None else msgspec.structs.replace(met, cause="outage")


def _told_wait(error: openai.APIStatusError) -> float | None:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(error.response.headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < 366 * 86400:
            return seconds
    return None
