"""What pages ask for. Each function calls one use case, and changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import StreamingResponse

from aotloop.app.diagram.drawn_graph import Drawing, drawing_of
from aotloop.app.history.attempts import folder_of
from aotloop.app.history.costs import costs_of
from aotloop.app.overview.checklist_view import view_of_base_case
from aotloop.app.overview.loop_list import LoopRows, row_of
from aotloop.app.redirect.proposals import proposals_of
from aotloop.app.ship.feature_access import project_of
from aotloop.app.ship.status import feature_status
from aotloop.app.ship.test_consent import commands_for_tests, shown_tests
from aotloop.app.show import AtomFacts, AttemptFacts, end_of_transcript, known_attempt, show_atom, show_attempt
from aotloop.app.verify import subject_of
from aotloop.core.commands import commands_of
from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.project import Project
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import digest_of, is_trusted
from aotloop.web.endpoint import loop_in, view
from aotloop.web.stream import EventsSource, LoopSource, LoopStates, ValueSource, mark_of, message, streamed

LIST_SECONDS = 0.5
TRANSCRIPT_SECONDS = 0.3
MOST_OPEN = 100
"""Folds that can be open at once."""


@view
def graph(request: Request) -> Drawing:
    opened = request.query_params.getlist("open")[:MOST_OPEN]
    is_folded = request.query_params.get("fold") == "1"
    return drawing_of(_store(request).load(), opened, everything=is_folded)


@view
def base_case(request: Request) -> dict[str, Any]:
    """With what a decision about it would be about, so that a decision made meanwhile does not count for another."""
    store = _store(request)
    loop = store.load()
    subject = subject_of(store, loop)
    return {
        "view": view_of_base_case(store.path, loop),
        "subject": {"objective_digest": subject.objective_digest, "commit": subject.commit},
    }


@view
def costs(request: Request) -> Any:
    store = _store(request)
    return costs_of(store.path, store.load())


@view
def commands(request: Request) -> dict[str, Any]:
    store = _store(request)
    found = commands_of(store.load())
    return {
        "commands": found,
        "digest": digest_of(store.path, found),
        "accepted": is_trusted(store.path, found),
    }


@view
def proposals(request: Request) -> dict[str, Any]:
    return {"proposals": proposals_of(_store(request))}


@view
def atom(request: Request) -> AtomFacts:
    return show_atom(_store(request), request.query_params.get("id", ""))


@view
def attempt(request: Request) -> AttemptFacts:
    """Its transcript is a stream of its own."""
    return replace(show_attempt(_store(request), request.query_params.get("name", "")), transcript=())


@view
def feature(request: Request) -> dict[str, Any]:
    return _feature(loop_in(request, "feature").path)


def _feature(path: str) -> dict[str, Any]:
    project = project_of(path)
    status = feature_status(project)
    text, command, problem = _tests(project, status.loop)
    needed = commands_for_tests(project.settings)
    return {
        **status.as_data(),
        "folder": str(project.root),
        "tests": {
            "text": text,
            "command": command,
            "problem": problem,
            "commands": needed,
            "digest": digest_of(path, needed),
            "accepted": is_trusted(path, needed),
        },
    }


def _tests(project: Project, feature: PhaseLoop) -> tuple[str, str, str]:
    """The tests, the command that runs them, and why they cannot be run; what an agent named may be no file at all."""
    try:
        return *shown_tests(project, feature), ""
    except AotError as error:
        return "", "", str(error)


# --- streams -----------------------------------------------------------------------------------------------------


async def list_stream(request: Request) -> StreamingResponse:
    rows: LoopRows = request.app.state.rows
    return streamed(request, ValueSource("loops", rows.now).messages, seconds=LIST_SECONDS)


async def loop_stream(request: Request) -> StreamingResponse:
    states: LoopStates = request.app.state.states
    known = loop_in(request)
    events, state = EventsSource(known.path, mark_of(request)), LoopSource(states, known.path)
    return streamed(request, events.messages, state.messages)


async def feature_stream(request: Request) -> StreamingResponse:
    known = loop_in(request, "feature")
    events, value = EventsSource(known.path, mark_of(request)), ValueSource("feature", lambda: _feature(known.path))
    row = ValueSource("row", lambda: row_of(known))
    return streamed(request, events.messages, row.messages, value.messages, seconds=LIST_SECONDS)


async def transcript_stream(request: Request) -> StreamingResponse:
    store = _store(request)
    source = _Transcript(store, request.query_params.get("name", ""))
    return streamed(request, source.messages, seconds=TRANSCRIPT_SECONDS)


class _Transcript:
    """The steps of one attempt, from the first one that the page does not have or has not whole."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name
        self._folder: Path | None = None
        self._sign: tuple[int, int] | None = None
        self._sent: list[Any] = []

    def messages(self) -> list[bytes]:
        try:
            if self._folder is None:
                found = known_attempt(self._store, self._store.load(), self._name)
                self._folder = folder_of(self._store.path, found)
            if self._folder is None or (sign := _sign(self._folder)) == self._sign:
                return []
        except (AotError, OSError):
            return []
        self._sign = sign
        steps, is_cut = end_of_transcript(self._folder)
        same = next((n for n, (a, b) in enumerate(zip(self._sent, steps, strict=False)) if a != b), None)
        begin = same if same is not None else min(len(self._sent), len(steps))
        self._sent = steps
        return [message("steps", {"from": begin, "steps": steps[begin:], "cut": is_cut})]


def _sign(folder: Path) -> tuple[int, int] | None:
    try:
        status = (folder / "transcript.jsonl").stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _store(request: Request) -> Store:
    return Store(loop_in(request).path)
