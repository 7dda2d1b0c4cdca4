"""Puts what the user's settings ask for beside the observer of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from aotloop.app.outlets.joined_observers import JoinedObservers
from aotloop.app.overview.loop_registry import Kind, page_address
from aotloop.app.report.foreign_text import ForeignText
from aotloop.app.report.report_facts import known_secrets
from aotloop.config.schema import Config
from aotloop.errors import AotError, Unavailable
from aotloop.execution.observer import Observer
from aotloop.statefile.locate import project_root

OnProblem = Callable[[AotError], None]
"""Hears what is missing; the run does without it."""


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
