"""How a session that ships a feature leaves the phase it is in: by a script, or by what a person types."""

from __future__ import annotations

from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.core.phases.receipts import receipt_of

AS_GRAPHS: frozenset[Phase] = frozenset({"work", "fix"})
"""Phases that are done by agents side by side."""


def how_to_file(loop: PhaseLoop, script: str) -> str:
    """`script` as an agent calls it."""
    if loop.phase == "ship" and receipt_of(loop, "ship") is not None:
        return f"If you have committed anything since its receipt, file that again first: `{script} receipt`."
    filing = (
        f'When it is done, commit it, then `{script} receipt --artifact PATH --summary "what was done"`, with'
        ' `--failed "what did not work|||what else did not"` if there was any. Nothing else leaves the phase.'
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
