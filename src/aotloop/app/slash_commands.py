"""What a person types to enter a loop or to decide about one, and how a session leaves a phase that it ships."""

from __future__ import annotations

import os

from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.core.phases.receipts import receipt_of

AS_GRAPHS: frozenset[Phase] = frozenset({"work", "fix"})
"""Phases that are done by agents side by side."""

IN_CODEX = "CODEX_SESSION_ID"
"""Codex sets it for all its commands; other programs do not set it."""


def to_type(words: str) -> str:
    return _typed("enter-recursion", words)


def to_ship(words: str) -> str:
    return _typed("ship", words)


def _typed(command: str, words: str) -> str:
    prefix = "$aot-loop:source-command-" if os.environ.get(IN_CODEX) else "/aot-loop:"
    return f"`{prefix}{command} {words}`"


def how_to_file(loop: PhaseLoop, script: str) -> str:
    """`script` as an agent calls it."""
    if loop.phase == "ship" and receipt_of(loop, "ship") is not None:
        return f"If you have committed anything since its receipt, file that again first: `{script} receipt`."
    filing = (
        f"When it is done, commit it, then `{script} receipt --artifact PATH --summary 'what was done'`, with"
        " `--failed 'what did not work|||what else did not'` if there was any. Nothing else leaves the phase."
    )
    if loop.phase not in AS_GRAPHS or loop.no_graph:
        return filing
    return f"First `{script} work`: it makes a loop of what is to be done, and says how you go on with it.\n{filing}"


def how_to_approve(loop: PhaseLoop, command: str) -> str:
    """`command` as a person types it."""
    file = loop.artifacts.acceptance_tests_file or "the acceptance tests"
    return (
        f"A person has to look at {file}: type `{command} approve` if they say what you want,"
        f" `{command} refuse WHY` if not."
    )
