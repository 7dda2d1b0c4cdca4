"""Assignments for tests, and how an attempt is made, cancelled and looked after."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from aotloop.agents.answers.answer_schema import schema
from aotloop.agents.contract import Assignment, Backend, Outcome
from tests.checks.proofs import is_dead
from tests.patience import reached

LINUX = sys.platform == "linux"


def an_assignment(folder: Path, **more: Any) -> Assignment:
    cwd = folder / "tree"
    cwd.mkdir(exist_ok=True)
    values: dict[str, Any] = {
        "role": "worker",
        "atom": "A1",
        "attempt": 1,
        "run_id": "run-1",
        "epoch": 0,
        "cwd": cwd,
        "state_file": folder / "state.md",
        "scratch": folder / "scratch",
        "result_schema": schema(more.get("role", "worker")),
    }
    return Assignment(**{**values, **more})


def attempt(backend: Backend, assignment: Assignment, on_output: Callable[[str], None] = lambda _: None) -> Outcome:
    return asyncio.run(backend.run(assignment, on_output))


def worker_answer(**more: Any) -> str:
    answer = {
        "success": True,
        "bindings_delta": {"summary": "it is done", "artifacts": []},
        "artifacts": [],
        "reason": "",
        "because_of": [],
        "wants_probe": False,
        "proposal": None,
    }
    return json.dumps({**answer, **more})


def transcript(assignment: Assignment) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (assignment.evidence / "transcript.jsonl").read_bytes().splitlines()]


async def until_written(files: Sequence[Path]) -> list[int]:
    """The process ids in these files, once all are there."""
    for file in files:
        await reached(lambda file=file: file.exists() and file.read_text().endswith("\n"), f"no {file.name}")  # type: ignore[misc]
    return [int(file.read_text()) for file in files]


def all_dead(pids: Sequence[int]) -> bool:
    return all(map(is_dead, pids))
