"""Sends messages about a run to the services that its user named.

Each service has a thread and a short queue of its own: one that fails or hangs delays neither the run nor the others.
No address is ever logged, because it may hold a password.
"""

from __future__ import annotations

import logging
import queue
import re
import threading
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import msgspec

from aotloop.app.outlets.occasions import Message, Occasions
from aotloop.app.report.foreign_text import ForeignText, unlinked
from aotloop.app.ship.plan_graph import is_made_by_us
from aotloop.clock import minutes_of_day
from aotloop.config.outlet_settings import NotifySettings
from aotloop.core.model import Loop
from aotloop.errors import Unavailable
from aotloop.execution.observer import Watched
from aotloop.execution.run_events import RunEvent
from aotloop.extras import install_command

MOST_WAITING = 20
"""Messages for one service; further ones are dropped."""
LONGEST = 600
_KIND = re.compile(r"([a-zA-Z0-9+.-]{1,20})://")
"""A text without it may be a password in the wrong place."""


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    service: str
    """Its number and its kind; never its address."""
    problem: str | None = None


class Service:
    """One address. Its thread dies with the process."""

    def __init__(self, number: int, url: str) -> None:
        kind = _KIND.match(url)
        self.name = f"{number} ({kind[1] if kind is not None else 'no address'})"
        self._url = url
        self._waiting: queue.Queue[tuple[str, str] | None] = queue.Queue(MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name=f"notify {number}", daemon=True)
        self._is_started = False

    def put(self, title: str, text: str) -> None:
        if not self._is_started:
            self._is_started = True
            self._thread.start()
        with suppress(queue.Full):
            self._waiting.put_nowait((title, text))

    def finish(self, until: float) -> None:
        """Waits until this monotonic time at most."""
        if self._is_started:
            with suppress(queue.Full):
                self._waiting.put_nowait(None)
            self._thread.join(max(until - time.monotonic(), 0.0))

    def send(self, title: str, text: str) -> str | None:
        """Why it could not be sent, without the address."""
        try:
            apprise = _library()
            target = apprise.Apprise.instantiate(self._url, suppress_exceptions=True)
            if target is None:
                return "apprise does not understand this address"
            return None if target.notify(title=title, body=text) else "the service did not take the message"
        except Exception as error:  # noqa: BLE001 - a library of others, for a hundred services
            return f"it failed: {type(error).__name__}"

    def _work(self) -> None:
        while (message := self._waiting.get()) is not None:
            self.send(*message)


class Notifications:
    """An observer. `link`: the address of the page, if it is served; without its token."""

    def __init__(self, settings: NotifySettings, foreign: ForeignText, link: str | None = None) -> None:
        self._settings = settings
        self._foreign = foreign
        self._link = link
        self._services = services_of(settings)
        self._occasions = Occasions(settings.failures)
        self._goal = ""

    def open(self, loop: Watched) -> None:
        """The graph of a feature is a part of it: its end is no occasion, because the feature goes on."""
        self._goal = loop.objective.goal if isinstance(loop, Loop) else loop.feature
        self._occasions.is_part = isinstance(loop, Loop) and is_made_by_us(loop)

    def loop_changed(self, loop: Watched) -> None:
        if isinstance(loop, Loop):
            for message in self._occasions.spent(loop.control.cost_usd):
                self._put(message)

    def news(self, event: RunEvent) -> None:
        for message in self._occasions.of(event):
            self._put(message)

    def output(self, attempt: int, line: str) -> None:
        """Output is never sent."""

    def close(self) -> None:
        until = time.monotonic() + self._settings.timeout
        for service in self._services:
            service.finish(until)

    def _put(self, message: Message) -> None:
        if message.occasion not in self._settings.events or is_quiet(self._settings.quiet):
            return
        lines = [unlinked(self._foreign.shown_block(message.text, LONGEST)), self._link]
        title = f"aotloop: {message.title}: {unlinked(self._foreign.shown_line(self._goal, 80))}"
        for service in self._services:
            service.put(title, "\n".join(filter(None, lines)))


def services_of(settings: NotifySettings) -> list[Service]:
    return [Service(number, url) for number, url in enumerate(settings.urls, 1)]


def is_quiet(span: tuple[int, int] | None, now: float | None = None) -> bool:
    """`now`: seconds since 1970. The hours are those of this machine's clock."""
    if span is None:
        return False
    minute, (first, last) = minutes_of_day(now), span
    return first <= minute < last if first <= last else minute >= first or minute < last


def send_test(settings: NotifySettings) -> list[Delivery]:
    """Sends one message to each service at once, also in quiet hours. Raises Unavailable without the library."""
    require_library()
    text = "This is a test of `aot notify --test`. Messages about your loops will arrive here."
    found: dict[int, str | None] = {}
    services = services_of(settings)

    def send(number: int) -> None:
        found[number] = services[number].send("aotloop: test", text)

    threads = [threading.Thread(target=send, args=(number,), daemon=True) for number in range(len(services))]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 2 * settings.timeout
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0.0))
    late = f"no answer within {2 * settings.timeout:g} s"
    return [Delivery(service=service.name, problem=found.get(number, late)) for number, service in enumerate(services)]


def require_library() -> None:
    found = None
    with suppress(ImportError):
        found = find_spec("apprise")
    if found is None:
        raise Unavailable("notifications are not installed (apprise is missing)", hint=f"`{install_command('notify')}`")


def _library() -> Any:
    """It takes half a second to load, so the thread loads it. Its logs name addresses."""
    import apprise  # noqa: PLC0415

    for name in ("apprise", "urllib3", "requests"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL + 1)
        logger.propagate = False
    return apprise
