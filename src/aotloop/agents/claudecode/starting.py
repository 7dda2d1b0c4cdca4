"""How Claude Code is started: what each role may do, what it sees of our environment, how long it tries by itself.

What each option and variable does was found by experiment: docs/model-server.md. A verifier's shell is confined by the
client itself: with `dontAsk` and no command allowed, it runs what it knows to change nothing, and denies the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from aotloop.agents.claudecode import hiding, isolation, lending
from aotloop.agents.contract import Assignment, Limits
from aotloop.agents.environment import environment
from aotloop.agents.roles import Access, access_of, may_write

_LOOKING = "Read,Grep,Glob"
_TOOLS: dict[Access, tuple[str, ...]] = {
    "write": (
        *("--tools", f"{_LOOKING},Edit,Write,NotebookEdit,Bash,Task,Skill"),
        *("--permission-mode", "acceptEdits"),
        *("--allowedTools", "Bash"),
    ),
    "look": ("--tools", _LOOKING, "--permission-mode", "dontAsk"),
    "check": ("--tools", f"{_LOOKING},Bash", "--permission-mode", "dontAsk"),
}
_PRINTING = ("-p", "--output-format", "stream-json", "--verbose", "--include-partial-messages")

_OWN = (
    # Who pays, and where the service is.
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    # Which models the client's own choice means.
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_*",
)
_CLOUDS: dict[str, tuple[str, ...]] = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_*", "ANTHROPIC_BEDROCK_*", "CLAUDE_CODE_SKIP_BEDROCK_AUTH"),
    "CLAUDE_CODE_USE_VERTEX": (
        *("GOOGLE_*", "GCLOUD_*", "CLOUDSDK_*", "CLOUD_ML_REGION", "VERTEX_REGION_*"),
        *("ANTHROPIC_VERTEX_*", "CLAUDE_CODE_SKIP_VERTEX_AUTH"),
    ),
    "CLAUDE_CODE_USE_FOUNDRY": ("AZURE_*", "ANTHROPIC_FOUNDRY_*", "CLAUDE_CODE_SKIP_FOUNDRY_AUTH"),
}
"""Credentials of a cloud are passed on only where that cloud is switched on."""

_ALWAYS = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
}
_LONGEST_SILENCE = 300.0
_SHORTEST_SILENCE = 10.0


_NO_CONVERSATION = ("--no-session-persistence",)


def arguments(
    assignment: Assignment,
    model: str | None,
    *,
    conversation: tuple[str, ...] = _NO_CONVERSATION,
    with_operators: bool = False,
) -> tuple[str, ...]:
    """`conversation`: the options about that, see `sessions`.

    `with_operators`: a worker gets the operator's own settings, too. What others may do they could widen.
    """
    budget = budget_of(assignment)
    return (
        *_PRINTING,
        *isolation.options(
            assignment.cwd,
            *lending.instructions(assignment),
            with_operators=with_operators and may_write(assignment.role),
        ),
        *lending.options(assignment),
        *_TOOLS[access_of(assignment.role)],
        *_option("--json-schema", msgspec.json.encode(assignment.result_schema).decode(), assignment.result_schema),
        *_option("--model", model, model),
        *_option("--max-budget-usd", f"{budget}", budget is not None),
        *conversation,
    )


def budget_of(assignment: Assignment) -> float | None:
    """The client counts what a conversation has cost from its beginning."""
    session = assignment.sitting.session if assignment.sitting is not None else None
    if assignment.max_cost_usd is None or session is None:
        return assignment.max_cost_usd
    return assignment.max_cost_usd + (session.cost_usd or 0.0)


def _option(name: str, value: str | None, is_given: Any) -> tuple[str, ...]:
    return (name, value) if is_given and value is not None else ()


def surroundings(
    assignment: Assignment, ours: Mapping[str, str], pass_env: tuple[str, ...], retries: int
) -> dict[str, str]:
    """All that it sees. What the operator passes on explicitly counts more than what we would set."""
    patience = str(round(_patience(assignment.limits) * 1000))
    return {
        "HOME": str(Path.home()),  # without one, shells take that of the password file
        **_ALWAYS,
        **isolation.VARIABLES,
        hiding.VARIABLE: str(hiding.script_of(assignment)),
        "CLAUDE_CODE_MAX_RETRIES": str(retries),
        "API_TIMEOUT_MS": patience,
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": patience,
        **environment(assignment, ours, (*own_variables(ours), *pass_env)),
    }


def own_variables(ours: Mapping[str, str]) -> tuple[str, ...]:
    """Which variables are for the client alone."""
    return (*_OWN, *_cloud(ours))


def chosen_clouds(ours: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that switch them on."""
    return tuple(switch for switch in _CLOUDS if ours.get(switch, "").lower() not in {"", "0", "false"})


def _cloud(ours: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for switch in chosen_clouds(ours) for name in (switch, *_CLOUDS[switch]))


def _patience(limits: Limits) -> float:
    """How long the client waits for a silent service: so that it can ask again before we end it for its silence."""
    if limits.inactivity is None:
        return _LONGEST_SILENCE
    return min(_LONGEST_SILENCE, max(_SHORTEST_SILENCE, limits.inactivity / 3))
