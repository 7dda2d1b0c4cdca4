"""Which turn a request gets: that of its conversation's script, unless the client only wants a name for the session."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.modelserver.exchange import Exchange
from tests.modelserver.script import Fail, Say, Script, Turn, Usage

_SIDE_TASKS = re.compile(
    r"title generator|generate a (concise|short).{0,40}title|sentence-case title|conversation summar"
    r"|isNewTopic|new conversation topic|summarize.{0,40}in under \d+ words",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = '{"title": "A scripted session"}'


def is_side_task(exchange: Exchange) -> bool:
    """What clients ask besides the work: titles, topics, whether there is any quota left. Never with tools."""
    if exchange.tools:
        return False
    if exchange.body.get("max_tokens") == 1:
        return True
    return _SIDE_TASKS.search("\n".join([exchange.system, *exchange.texts[:1], *exchange.texts[-1:]])) is not None


def aside(exchange: Exchange) -> Turn:
    wants_json = exchange.schema is not None or "json" in exchange.system.lower()
    return Say(_TITLE if wants_json else "A scripted session", usage=Usage(input=1, output=1))


@dataclass
class _Play:
    script: Script
    position: int = 0


class Casting:
    def __init__(self, scripts: Sequence[Script]) -> None:
        self._scripts = scripts
        self._begun = [0] * len(scripts)
        self._plays: dict[tuple[str, str], _Play] = {}

    def turn_for(self, exchange: Exchange) -> tuple[Turn, str]:
        """And what went wrong, if no script knows what to say."""
        play = self._plays.get(exchange.conversation) or self._new_play(exchange)
        if play is None:
            return _lost(f"no script is for {exchange.prompt[:200]!r}")
        if play.position >= len(play.script.turns):
            return _lost(f"{play.script.when!r} has no turn {play.position + 1} for {exchange.prompt[:200]!r}")
        step = play.script.turns[play.position]
        play.position += 1
        return (step(exchange) if callable(step) else step), ""

    def _new_play(self, exchange: Exchange) -> _Play | None:
        for number, script in enumerate(self._scripts):
            if (script.plays is None or self._begun[number] < script.plays) and script.fits(exchange):
                self._begun[number] += 1
                return self._plays.setdefault(exchange.conversation, _Play(script))
        return None


def _lost(why: str) -> tuple[Turn, str]:
    """An error on which clients soon give up, and whose message they show."""
    return Fail(403, "permission_error", f"scripted model: {why}", "forbidden"), why
