"""All loops and features of this machine: one row each, also of those that are over."""

from __future__ import annotations

import os

import msgspec

from aotloop.app.overview.attention import need_of_feature, need_of_loop
from aotloop.app.overview.event_feed import last_event
from aotloop.app.overview.loop_registry import Kind, KnownLoop, registered
from aotloop.core.graph.work_graph import Graph
from aotloop.core.phases.model import PHASES
from aotloop.core.phases.phase_progress import state_of
from aotloop.errors import AotError
from aotloop.execution.journals.journal import EVENTS, FOLDER
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.statefile.store import Store
from aotloop.trust.folder import sign_of_decisions


class LoopRow(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    kind: Kind
    folder: str
    """The project."""
    goal: str = ""
    status: str = ""
    is_run: bool = False
    """A process, or a session, drives it now."""
    done: int = 0
    all: int = 0
    """Required atoms, or phases."""
    cost_usd: float = 0.0
    last_at: str = ""
    last_text: str = ""
    need: str | None = None
    problem: str | None = None
    """Why the file cannot be read."""


def list_loops() -> list[LoopRow]:
    return [row_of(known) for known in registered()]


def row_of(known: KnownLoop) -> LoopRow:
    row = LoopRow(key=known.key, kind=known.kind, folder=project_root(known.state_file), last_at=known.last_driven)
    try:
        complete = _of_feature(row, known.path) if known.kind == "feature" else _of_loop(row, known.path)
    except (AotError, OSError) as error:
        return msgspec.structs.replace(row, problem=error.message if isinstance(error, AotError) else str(error))
    event = last_event(known.path)
    if event is None:
        return complete
    return msgspec.structs.replace(complete, last_at=event["at"], last_text=event["text"])


def _of_loop(row: LoopRow, path: str) -> LoopRow:
    store = Store(path)
    loop = store.load()
    graph = Graph(loop)
    is_run = holder_of(path) is not None
    return msgspec.structs.replace(
        row,
        goal=loop.objective.goal,
        status=loop.control.status,
        is_run=is_run or (loop.control.status == "running" and loop.control.session_id is not None),
        done=len(graph.required) - len(graph.unresolved()),
        all=len(graph.required),
        cost_usd=loop.control.cost_usd,
        need=need_of_loop(store, loop, is_run=is_run or loop.control.session_id is not None),
    )


def _of_feature(row: LoopRow, path: str) -> LoopRow:
    feature = PhaseStore(path).load()
    is_run = holder_of(path) is not None
    return msgspec.structs.replace(
        row,
        goal=feature.feature,
        status=feature.status,
        is_run=is_run or (feature.status == "running" and feature.session_id is not None),
        done=sum(state_of(feature, phase) in ("done", "forced", "skipped") for phase in PHASES),
        all=len(PHASES),
        cost_usd=feature.spent_usd,
        last_at=feature.last_updated,
        need=need_of_feature(feature, is_run=is_run),
    )


class LoopRows:
    """The rows again and again: a file that has not changed is not read again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, LoopRow]] = {}

    def now(self) -> list[LoopRow]:
        present = registered()
        fresh = {known.key: self._row(known) for known in present}
        self._known = fresh
        return [row for _, row in fresh.values()]

    def _row(self, known: KnownLoop) -> tuple[object, LoopRow]:
        sign = (known, _sign(known.path), _sign(_events_of(known.path)), holder_of(known.path), sign_of_decisions())
        before = self._known.get(known.key)
        return before if before is not None and before[0] == sign else (sign, row_of(known))


def _events_of(path: str) -> str:
    return os.path.join(project_root(path), FOLDER, EVENTS)  # noqa: PTH118


def _sign(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
