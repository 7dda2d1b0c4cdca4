"""The command line of Claude Code: permissions of each role, its environment, and how long it retries by itself.

Experiments showed the effect of each option and variable: docs/development/model-server.md. The client itself confines
a verifier's shell: with `dontAsk` and no allowed command, it runs commands that it knows to change nothing, and denies
the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from aotloop.agents.attempt.agent_process import environment
from aotloop.agents.claude import skills
from aotloop.agents.client.folders import folders_of, leads_out
from aotloop.agents.contract import Assignment
from aotloop.agents.roles import Access, access_of, may_write
from aotloop.errors import Unavailable
from aotloop.process.environment import scrub
from aotloop.process.spec import Limits

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
    # The account that pays, and the address of the service.
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
    # The models that the client chooses by default.
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
    """`conversation`: the options of the conversation, see `conversations`.

    `with_operators`: a worker gets the operator's own settings, too. Other roles do not: settings could widen their
    rights.
    """
    budget = budget_of(assignment)
    return (
        *_PRINTING,
        *isolation_options(
            assignment.cwd,
            *skills.instructions(assignment),
            with_operators=with_operators and may_write(assignment.role),
        ),
        *skills.options(assignment),
        *_TOOLS[access_of(assignment.role)],
        *_option("--json-schema", msgspec.json.encode(assignment.result_schema).decode(), assignment.result_schema),
        *_option("--model", model, model),
        *_option("--max-budget-usd", f"{budget}", budget is not None),
        *conversation,
    )


def budget_of(assignment: Assignment) -> float | None:
    """The client counts the cost of a conversation from its beginning."""
    session = assignment.sitting.session if assignment.sitting is not None else None
    if assignment.max_cost_usd is None or session is None:
        return assignment.max_cost_usd
    return assignment.max_cost_usd + (session.cost_usd or 0.0)


def _option(name: str, value: str | None, is_given: Any) -> tuple[str, ...]:
    return (name, value) if is_given and value is not None else ()


def surroundings(
    assignment: Assignment, ours: Mapping[str, str], pass_env: tuple[str, ...], retries: int
) -> dict[str, str]:
    """The whole environment of the client. Values that the operator passes on explicitly replace ours."""
    patience = str(round(_patience(assignment.limits) * 1000))
    return {
        "HOME": str(Path.home()),  # without this variable, shells read it from the password file
        **_ALWAYS,
        **VARIABLES,
        VARIABLE: str(script_of(assignment)),
        "CLAUDE_CODE_MAX_RETRIES": str(retries),
        "API_TIMEOUT_MS": patience,
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": patience,
        **environment(assignment, ours, (*own_variables(ours), *pass_env)),
    }


def own_variables(ours: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that only the client may see."""
    return (*_OWN, *_cloud(ours))


def chosen_clouds(ours: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that switch clouds on."""
    return tuple(switch for switch in _CLOUDS if ours.get(switch, "").lower() not in {"", "0", "false"})


def _cloud(ours: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for switch in chosen_clouds(ours) for name in (switch, *_CLOUDS[switch]))


def _patience(limits: Limits) -> float:
    """How long the client waits for a silent service: short enough to ask again before we end it for its silence."""
    if limits.inactivity is None:
        return _LONGEST_SILENCE
    return min(_LONGEST_SILENCE, max(_SHORTEST_SILENCE, limits.inactivity / 3))


VARIABLE = "CLAUDE_ENV_FILE"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def script_of(assignment: Assignment) -> Path:
    return assignment.scratch / "environment.sh"


def hide(assignment: Assignment, env: Mapping[str, str], own: Iterable[str], pass_env: tuple[str, ...]) -> None:
    """`own`: variables of the client only. Variables that the operator passes on explicitly stay.

    Call this when the attempt's own folder exists. Raises Unavailable.
    """
    seen = {*scrub(env, allow=pass_env), *assignment.env}
    names = sorted(name for name in {*scrub(env, allow=own)} - seen if _NAME.fullmatch(name))
    try:
        script_of(assignment).write_text(f"unset {' '.join(names)}\n" if names else "")
    except OSError as error:
        where = script_of(assignment)
        raise Unavailable(f"the client cannot be given a script of its own: {where}: {error.strerror}") from error


_FILES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md")
_INSTRUCTIONS = (*_FILES, ".claude/rules/**")
VARIABLES = {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}


def isolation_options(cwd: Path, *lent: Path, with_operators: bool = False) -> tuple[str, ...]:
    """`lent`: folders with instructions in addition to those of the repository.

    `with_operators`: the client also loads settings, hooks, servers and instructions of the operator.
    """
    return (
        *("--setting-sources", "user" if with_operators else ""),
        *("--add-dir", *map(str, (*folders_of(cwd.absolute()), *lent))),
        *(() if with_operators else ("--strict-mcp-config",)),
        *("--settings", msgspec.json.encode(_settings(cwd, with_operators=with_operators)).decode()),
    )


def _settings(cwd: Path, *, with_operators: bool) -> dict[str, Any]:
    strangers = _leading_out(cwd)
    if with_operators:
        return {"enableAllProjectMcpServers": False, "enabledMcpjsonServers": [], "claudeMdExcludes": strangers}
    return {"disableAllHooks": True, "claudeMdExcludes": [*_excluded(cwd), *strangers]}


def _leading_out(cwd: Path) -> list[str]:
    """Through a link in the repository, the client would show the model some other file of the operator."""
    found = [path for name in _FILES for path in leads_out(cwd.absolute(), name)]
    return [str(form) for path in found for form in (path, path.resolve())]


def _excluded(cwd: Path) -> list[str]:
    above = {folder for path in (cwd.absolute(), cwd.resolve()) for folder in folders_of(path)[0].parents}
    return [f"{str(folder).rstrip('/')}/{name}" for folder in sorted(above) for name in _INSTRUCTIONS]
