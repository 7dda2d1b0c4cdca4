"""The backend `codex` runs OpenAI's Codex in its own sandbox. Its options: docs/development/model-server.md.

A worker may write in its folder and in its own TMPDIR; other roles may not write at all. Each attempt has its own
CODEX_HOME: the user's config.toml is neither read nor written. Exit 0 proves nothing: an answer counts only at the end
of a completed turn. It knows no limit of money: its tokens are counted while it works, and it is ended at its share.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.agents.answers.answer_outcome import outcome_of_message
from aotloop.agents.attempt import scratch
from aotloop.agents.attempt.agent_process import Ran, environment, last_output, run, spec_of
from aotloop.agents.attempt.poll import polled
from aotloop.agents.attempt.usage import own_share
from aotloop.agents.client.detection import Presence, login_by, look_for
from aotloop.agents.client.folders import leads_out
from aotloop.agents.client.logins import home_with_login, login_file
from aotloop.agents.client.service_errors import outcome_of_trouble
from aotloop.agents.codex.codex_events import CodexEvents
from aotloop.agents.codex.codex_home import (
    bring_sessions,
    distrust,
    keep_sessions,
    lend_settings,
    pointed_at_instructions,
)
from aotloop.agents.codex.rollout import Rollouts
from aotloop.agents.contract import Assignment, Backend, Capabilities, Crashed, Garbage, Outcome, TimedOut
from aotloop.agents.registry import Client, Settings, of_client
from aotloop.agents.roles import may_write
from aotloop.process.spec import Limits, ProcessSpec
from aotloop.text.shorten import last_lines

KEYS = ("CODEX_API_KEY", "OPENAI_API_KEY")
"""Codex gets these variables, its commands do not."""
PASSED = (*KEYS, "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "CODEX_CA_CERTIFICATE")
LOG_IN = "Log in with `codex login`, or set CODEX_API_KEY or OPENAI_API_KEY."
INSTALL = "Install it with: npm install -g @openai/codex"

LOGIN = "auth.json"
TESTED = (0, 166)
"""The version whose behaviour is known here."""

_SCHEMA = "schema.json"
_LONGEST_SILENCE, _SHORTEST_SILENCE = 300.0, 10.0
_LONGEST_TAIL = 1000
_GLANCE = 0.5
_UNKNOWN = "no rollout found for thread id"


class Codex(Client, frozen=True, kw_only=True):
    program: str = "codex"
    patience: float = 60.0
    """The most seconds that an attempt waits for a busy service; after that, the attempt returns to us."""

    @property
    def name(self) -> str:
        return "codex"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            structured_output="native", tool_restriction="native", sessions="native", interrupt="emulated"
        )

    def look(self) -> Presence:
        login = login_by(os.environ, KEYS, _login(os.environ))
        return look_for(
            self.program, install=INSTALL, login=login, log_in=LOG_IN, folders=("CODEX_HOME",), tested=TESTED
        )

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        scratch.prepare(assignment)
        events = self._events(assignment, on_output)
        with home_with_login(assignment.scratch / "codex", _login(os.environ), f"home/{LOGIN}") as own:
            if assignment.sitting is not None:
                bring_sessions(assignment.sitting.store, own / "home")
            spec, transcript = self._spec(assignment, own), assignment.evidence / scratch.TRANSCRIPT
            rollouts = Rollouts(own / "home")
            events.on_event = lambda: events.count(rollouts.tokens())
            async with polled(events.on_event, _GLANCE):
                ran = await run(spec, transcript, on_output, events, scratch=own, remedy=INSTALL)
            if assignment.sitting is not None:
                keep_sessions(own / "home", assignment.sitting.store)
        outcome = _outcome(ran, events, assignment)
        outcome = replace(
            outcome,
            seconds=ran.seconds,
            start=events.watch.seconds,
            output=events.told,
            tokens=events.tokens,
            notes=outcome.notes + ran.notes + events.notes,
        )
        return own_share(outcome, assignment, events.session)

    def _events(self, assignment: Assignment, on_output: Callable[[str], None]) -> CodexEvents:
        session = assignment.sitting.session if assignment.sitting is not None else None
        return CodexEvents(
            on_output,
            self.patience,
            assignment.meter,
            before=session.tokens if session is not None else None,
            most_usd=assignment.max_cost_usd,
            price=self.price,
        )

    def _spec(self, assignment: Assignment, own: Path) -> ProcessSpec:
        home, temporary = own / "home", own / "tmp"
        temporary.mkdir()
        prompt = assignment.prompt
        if self.lends_settings(assignment.role):
            lend_settings(_login(os.environ).parent, home)
            prompt = pointed_at_instructions(prompt, assignment.cwd)
        env = environment(assignment, os.environ, (*PASSED, *self.pass_env))
        env |= {"CODEX_HOME": str(home), "TMPDIR": str(temporary)}
        if "CODEX_API_KEY" not in env and "OPENAI_API_KEY" in env and not (home / LOGIN).exists():
            env["CODEX_API_KEY"] = env["OPENAI_API_KEY"]
        return spec_of(assignment, self._arguments(assignment, env), env, prompt, confined=False)

    def _arguments(self, assignment: Assignment, env: Mapping[str, str]) -> tuple[str, ...]:
        sandbox = "workspace-write" if may_write(assignment.role) else "read-only"
        argv = [self.program, "exec", "--json", "-s", sandbox, "--skip-git-repo-check"]
        ignoring = ("--ignore-user-config", "--ignore-rules")
        argv += distrust(assignment.cwd) if self.lends_settings(assignment.role) else ignoring
        argv += ["-m", self.model] if self.model is not None else []
        if assignment.result_schema:
            file = assignment.scratch / _SCHEMA
            file.write_bytes(msgspec.json.encode(assignment.result_schema))
            argv += ["--output-schema", str(file)]
        if leads_out(assignment.cwd.absolute(), "AGENTS.md"):  # else the model would see another file of the operator
            argv += ["-c", "project_doc_max_bytes=0"]
        hidden = [name for name in KEYS if name not in self.pass_env]
        for key, value in _settings(hidden, env.get("OPENAI_BASE_URL"), assignment.limits).items():
            argv += ["-c", f"{key}={json.dumps(value)}"]
        session = assignment.sitting.session if assignment.sitting is not None else None
        return (*argv, *(("resume", session.id) if session is not None else ()), "-")


def make(settings: Settings) -> Backend:
    return Codex(program=settings.program or "codex", **of_client(settings))


def _login(surroundings: Mapping[str, str]) -> Path:
    return login_file(surroundings, "CODEX_HOME", ".codex", LOGIN)


def _settings(hidden: list[str], base_url: str | None, limits: Limits) -> dict[str, Any]:
    """OpenAI as a provider with another name: Codex bounds retries only for such providers."""
    provider = {
        "name": "OpenAI",
        "wire_api": "responses",
        "requires_openai_auth": True,
        "request_max_retries": 2,
        "stream_max_retries": 3,
        "stream_idle_timeout_ms": round(1000 * _patience(limits)),
    } | ({"base_url": base_url} if base_url else {})
    return {
        "model_provider": "aot",
        **{f"model_providers.aot.{key}": value for key, value in provider.items()},
        "features.unbounded_connection_retries": False,
        "features.plugins": False,
        "analytics.enabled": False,
        "sandbox_workspace_write.exclude_slash_tmp": True,  # not TMPDIR, which is the attempt's own
        "shell_environment_policy.exclude": hidden,
    }


def _patience(limits: Limits) -> float:
    """How long it waits for a silent service: short enough to ask again before we end it for its silence."""
    if limits.inactivity is None:
        return _LONGEST_SILENCE
    return min(_LONGEST_SILENCE, max(_SHORTEST_SILENCE, limits.inactivity / 3))


def _outcome(ran: Ran, events: CodexEvents, assignment: Assignment) -> Outcome:
    if events.trouble is not None:  # also if the time ran out meanwhile: the service was slow, not the agent
        return outcome_of_trouble(events.trouble, LOG_IN)
    if ran.timed_out is not None:
        return TimedOut(reason=f"Codex {ran.timed_out.reason}", taught=ran.timed_out.taught)
    if _UNKNOWN in ran.stderr:
        return Crashed(reason=last_lines(ran.stderr, _LONGEST_TAIL), cause="no_session")
    if ran.exit_code != 0:
        return Crashed(reason=f"{ran.ending}{last_output(events.told, ran.stderr)}")
    return _answered(ran, events, assignment)


def _answered(ran: Ran, events: CodexEvents, assignment: Assignment) -> Outcome:
    if events.message is None:
        why = "it ended without a message; a model that refuses looks like this, too"
        return Garbage(reason=f"{why}{last_output(events.told, ran.stderr)}")
    if not events.is_complete:
        return Crashed(reason=f"{ran.ending} in the middle of its turn{last_output(events.told, ran.stderr)}")
    tail = last_output(events.told, ran.stderr)
    return outcome_of_message(assignment.role, events.message, assignment.cwd, tail)
