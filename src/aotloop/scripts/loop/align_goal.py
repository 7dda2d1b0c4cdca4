"""align_goal: what a person agreed on in a session becomes the state file; nothing is written before they did."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from aotloop.app.align.agreed_file import loop_in, write
from aotloop.app.align.coverage import proposals
from aotloop.app.align.draft import Draft
from aotloop.app.align.draft_file import LARGEST, read_draft
from aotloop.app.align.shape import Shape, run_base_case, shape_of
from aotloop.app.align.starting_point import is_graph_without_atoms, place_of, refuse_running, start_from
from aotloop.app.loops import CHECK_TIMEOUT
from aotloop.core.commands import commands_of
from aotloop.core.measure import attempts_allowed
from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.scripts.arguments import Option, Usage, UsageError
from aotloop.scripts.json_output import Script
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import digest_of, is_trusted
from aotloop.trust.drafts import draft_named, forget_draft, is_name, keep_draft

STANDARD_INPUT = "-"


def _align_goal(given: dict[str, Any]) -> dict[str, Any]:
    """Three calls make an alignment: what is missing; what holds already (--try); and, agreed on, the file.

    The first call keeps the objective as a draft. The others name the draft instead of the objective.
    """
    if given["try"] and given["agreed"]:
        raise UsageError("--try runs the base case before the person agrees; --agreed writes what was agreed on")
    store = Store(place_of(given["state_file"]))
    before = loop_in(store)
    refuse_running(before)
    content, name = _said(given["file"], store)
    draft = start_from(before, _read(content, name)).draft
    shape = shape_of(draft, before)
    result = {"draft": keep_draft(store.path, content), **_described(shape, draft, before)}
    if not shape.gate.ready:
        return {"success": False, "written": False, **result}
    if given["try"]:
        result |= _red_first(shape, store.path, given["timeout"])
    if given["agreed"]:
        result |= _written(store, draft, before, given["request"] or "")
        forget_draft(store.path)
    return {"success": True, "written": given["agreed"], **result}


def _said(word: str, store: Store) -> tuple[bytes, str]:
    """The YAML, and what errors call it."""
    if is_name(word):
        return draft_named(store.path, word), "the draft"
    if word == STANDARD_INPUT:
        return sys.stdin.buffer.read(LARGEST + 1), "the objective"
    try:
        with Path(word).open("rb") as opened:
            return opened.read(LARGEST + 1), word
    except OSError as error:
        raise UsageError(f"{word} cannot be read: {error.strerror}") from None


def _read(content: bytes, name: str) -> Draft:
    draft = read_draft(content, name)
    if is_graph_without_atoms(draft):
        raise StateFileInvalid(f"{name}: it has groups or decompositions, but no atoms")
    return draft


def _described(shape: Shape, draft: Draft, before: Loop | None) -> dict[str, Any]:
    return {
        "missing": list(shape.gate.missing),
        "warnings": list(shape.gate.warnings),
        "atoms": [atom.id for atom in shape.loop.atoms],
        "commands": commands_of(shape.loop),
        "most_attempts": attempts_allowed(shape.loop),
        "proposed_covers": _proposed_covers(shape, draft, before),
    }


def _proposed_covers(shape: Shape, draft: Draft, before: Loop | None) -> dict[str, list[str]]:
    """Of atoms that have no check: which items of the base case they are likely to make true, by words in common."""
    return {shape.loop.atoms[place].id: list(items) for place, items in proposals(draft, before).items()}


def _red_first(shape: Shape, state_file: str, timeout: float) -> dict[str, Any]:
    report = run_base_case(shape, state_file, timeout=timeout)
    return {"base_case": report.as_data(), "already_holding": list(report.holding)}


def _written(store: Store, draft: Draft, before: Loop | None, request: str) -> dict[str, Any]:
    """Accepts no commands: the agent that wrote them says here that a person agreed."""
    written = write(store, draft, before=before, request=request, accept=lambda _: None)
    commands = commands_of(store.load())
    return {
        "state_file": store.path,
        "new": written.is_new,
        "atoms": list(written.atoms),
        "kept": list(written.kept),
        "undone": list(written.undone),
        "accept": None if is_trusted(store.path, commands) else digest_of(store.path, commands),
    }


ALIGN_GOAL = Script(
    Usage(
        "Look at an objective (YAML; - is standard input), try its base case, or write what a person agreed on. The"
        " answer names a draft; that name can stand for the file afterwards.",
        ("file",),
        {
            "--try": Option(None),
            "--agreed": Option(None),
            "--request": Option(),
            "--timeout": Option(float, CHECK_TIMEOUT),
        },
    ),
    _align_goal,
)
