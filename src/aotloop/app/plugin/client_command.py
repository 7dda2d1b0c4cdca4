"""Only this module runs clients to manage their plugins: bounded in time, and without a network where they let us."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from aotloop.errors import Unavailable
from aotloop.process import blocking_run
from aotloop.process.output import Whole
from aotloop.process.own_programs import is_own
from aotloop.process.spec import Ending, Limits, ProcessSpec

PATIENCE = 120.0
_QUIET = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


def ask(program: str, *words: str, cwd: Path | None = None) -> str:
    """What it printed. Raises Unavailable, with what it complained of."""
    if not is_own(program):
        raise Unavailable(
            f"{program} is not started, because agents can change it: it lies in a project",
            hint="Install the client outside of projects, or put its own folder first on your PATH.",
        )
    spec = ProcessSpec(
        argv=(program, *words),
        cwd=cwd,
        env={**os.environ, **_QUIET},
        limits=Limits(total=PATIENCE),
        ending=Ending(clears=False),
    )
    output, complaints = Whole(), Whole()
    try:
        completed = blocking_run.run(spec, out=output, err=complaints)
    except OSError as error:
        raise _refused(program, words, error.strerror or str(error)) from error
    if completed.status is None:
        raise _refused(program, words, f"it did not answer within {PATIENCE:g} s")
    if completed.status != 0:
        raise _refused(
            program, words, _reason(complaints.text()) or _reason(output.text()) or f"exit {completed.status}"
        )
    return output.text()


def ask_json(program: str, *words: str, wanted: Any, cwd: Path | None = None) -> Any:
    output = ask(program, *words, cwd=cwd)
    try:
        return msgspec.json.decode(output, type=wanted)
    except msgspec.MsgspecError as error:
        raise _refused(program, words, f"its answer is not what was expected: {error}") from error


def _reason(text: str) -> str:
    """The line that says what is wrong; clients warn before it, and trace back after it."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("WARNING")]
    telling = [line for line in lines if line.startswith(("Error", "✘", "error"))]
    return (telling or lines or [""])[0][:300]


def _refused(program: str, words: Sequence[str], why: str) -> Unavailable:
    return Unavailable(f"`{Path(program).name} {' '.join(words)}` did not work: {why}")
