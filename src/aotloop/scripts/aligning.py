"""align_goal: what a person agreed on in a session becomes the state file; nothing is written before they did."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from aotloop import app
from aotloop.alignment.applying import loop_in, write
from aotloop.alignment.coverage import proposals
from aotloop.alignment.draft import OF_GRAPH, Draft, draft_of, over
from aotloop.alignment.files import LARGEST, read_draft
from aotloop.alignment.red_first import run_base_case
from aotloop.alignment.shape import Shape, shape_of
from aotloop.core.commands import commands_of
from aotloop.core.measure import attempts_allowed
from aotloop.core.model import Loop
from aotloop.errors import StateFileBusy, StateFileInvalid, StateFileMissing
from aotloop.scripts.arguments import Option, Usage, UsageError
from aotloop.scripts.output import Script
from aotloop.statefile.locate import find_state_file, new_state_file, project_root
from aotloop.statefile.store import Store
from aotloop.trust.commands import digest_of, is_trusted

STANDARD_INPUT = "-"


def _align_goal(given: dict[str, Any]) -> dict[str, Any]:
    """Three calls make an alignment: what is missing; what holds already (--try); and, agreed on, the file."""
    if given["try"] and given["agreed"]:
        raise UsageError("--try runs the base case before anybody has agreed; --agreed writes what was agreed on")
    store = Store(_place(given["state_file"]))
    before = loop_in(store)
    if before is not None and before.control.status == "running":
        raise StateFileBusy(
            "the loop runs, so it is not aligned again",
            hint="/aot-loop:redirect changes its direction, /aot-loop:exit-recursion ends it.",
        )
    draft = over(draft_of(before) if before is not None else Draft(), _said(given["file"]))
    shape = shape_of(draft, before)
    result = _described(shape, draft, before)
    if not shape.gate.ready:
        return {"success": False, "written": False, **result}
    if given["try"]:
        result |= _red_first(shape, Path(project_root(store.path)), given["timeout"])
    if given["agreed"]:
        result |= _written(store, draft, before, given["request"] or "")
    return {"success": True, "written": given["agreed"], **result}


def _place(state_file: str | None) -> str:
    """The loop that is found from here is aligned again; else a new one is made here."""
    try:
        return find_state_file(state_file)
    except StateFileMissing:
        return new_state_file(state_file)


def _said(file: str) -> Draft:
    if file == STANDARD_INPUT:
        data, name = sys.stdin.buffer.read(LARGEST + 1), "the objective"
    else:
        try:
            with Path(file).open("rb") as opened:
                data, name = opened.read(LARGEST + 1), file
        except OSError as error:
            raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    draft = read_draft(data, name)
    if not draft.atoms and any(getattr(draft, part) for part in OF_GRAPH):
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


def _red_first(shape: Shape, root: Path, timeout: float) -> dict[str, Any]:
    report = run_base_case(shape.loop.objective, root, timeout=timeout)
    return {"base_case": report.as_data(), "already_holding": list(report.holding)}


def _written(store: Store, draft: Draft, before: Loop | None, request: str) -> dict[str, Any]:
    """The commands are not accepted by this: who says here that a person agreed is the agent that wrote them."""
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
        "Look at an objective (YAML; - is standard input), try its base case, or write what a person agreed on.",
        ("file",),
        {
            "--try": Option(None),
            "--agreed": Option(None),
            "--request": Option(),
            "--timeout": Option(float, app.CHECK_TIMEOUT),
        },
    ),
    _align_goal,
)
