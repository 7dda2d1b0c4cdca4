"""Puts what the user's settings ask for beside the observer of a run: several observers act as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from aotloop.app.overview.loop_registry import Kind, page_address
from aotloop.app.report.foreign_text import ForeignText
from aotloop.app.report.report_facts import known_secrets
from aotloop.config.schema import Config
from aotloop.errors import AotError, Unavailable
from aotloop.execution.observer import Observer, Watched
from aotloop.execution.run_events import RunEvent
from aotloop.statefile.locate import project_root

OnProblem = Callable[[AotError], None]
"""Receives an error, such as a missing extra; the run continues without that outlet."""


def with_outlets(
    first: Observer,
    config: Config,
    state_file: str,
    on_problem: OnProblem,
    *,
    kind: Kind = "loop",
    server: str | None = None,
) -> Observer:
    """`server`: the address of the pages, if this process serves them."""
    server = server if server is not None else config.notify.page
    link = page_address(server, state_file, kind) if server is not None else None
    others = list(_outlets(config, Path(project_root(state_file)), on_problem, link))
    return JoinedObservers(first, others) if others else first


def _outlets(config: Config, root: Path, on_problem: OnProblem, link: str | None) -> Iterator[Observer]:
    if config.notify.urls:
        from aotloop.app.outlets.notifications import Notifications, require_library  # noqa: PLC0415 - rarely wanted

        try:
            require_library()
            yield Notifications(config.notify, ForeignText(known_secrets(root)), link)
        except Unavailable as error:
            on_problem(error)
    if config.telemetry.enabled:
        from aotloop.app.outlets.telemetry import Telemetry, wants_telemetry  # noqa: PLC0415 - rarely wanted

        try:
            if wants_telemetry(config.telemetry):
                yield Telemetry(config.telemetry, ForeignText(known_secrets(root)))
            else:
                on_problem(AotError("telemetry has no endpoint", hint="Set telemetry.endpoint in your settings."))
        except Unavailable as error:
            on_problem(error)


class JoinedObservers:
    def __init__(self, first: Observer, others: Sequence[Observer]) -> None:
        self._first = first
        self._others = list(others)

    def open(self, loop: Watched) -> None:
        self._first.open(loop)
        self._tell(lambda observer: observer.open(loop))

    def loop_changed(self, loop: Watched) -> None:
        self._first.loop_changed(loop)
        self._tell(lambda observer: observer.loop_changed(loop))

    def news(self, event: RunEvent) -> None:
        self._first.news(event)
        self._tell(lambda observer: observer.news(event))

    def output(self, attempt: int, line: str) -> None:
        self._first.output(attempt, line)

    def close(self) -> None:
        self._first.close()
        self._tell(lambda observer: observer.close())

    def _tell(self, say: Callable[[Observer], None]) -> None:
        for observer in tuple(self._others):
            try:
                say(observer)
            except Exception:  # noqa: BLE001 - an error of an outlet's library does not end a run
                self._others.remove(observer)
