"""The backend `acp` runs any agent that speaks the Agent Client Protocol: one session, one prompt.

The agent asks us before it acts, and its role decides the answer (`permissions`). The setting `argv` names the agent,
or `program` names a preset.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from aotloop.agents.acp.presets import OTHER, PRESETS, Preset
from aotloop.agents.acp.session import AcpSession
from aotloop.agents.answers.answer_outcome import outcome_of_message
from aotloop.agents.attempt import scratch
from aotloop.agents.attempt.agent_process import Ran, environment, last_output, run, spec_of
from aotloop.agents.client.detection import Presence, login_by, look_for
from aotloop.agents.client.service_errors import outcome_of_trouble
from aotloop.agents.contract import Assignment, Backend, Capabilities, Crashed, Failed, Outcome, TimedOut
from aotloop.agents.registry import Settings
from aotloop.errors import AotError
from aotloop.process.sandbox.home_folders import client_in

_STOPS = {
    "max_tokens": "the model's answer was longer than it may be",
    "max_turn_requests": "it asked the model more often than it may",
}


class Acp(msgspec.Struct, frozen=True, kw_only=True):
    preset: Preset
    model: str | None = None
    pass_env: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "acp"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            structured_output="emulated", tool_restriction="emulated", cost_report="emulated", interrupt="emulated"
        )

    def look(self) -> Presence:
        login = login_by(os.environ, self.preset.keys, otherwise="unknown")
        return look_for(
            self.preset.argv[0],
            install=self.preset.install,
            login=login,
            log_in=self.preset.log_in,
            tells_version=self.preset.tells_version,
        )

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        scratch.prepare(assignment)
        session = AcpSession(assignment, on_output, model=self.model)
        env = environment(assignment, os.environ, (*self.preset.passed, *self.pass_env))
        ran = await run_agent(self.preset, assignment, env, on_output, session)
        return told(outcome_of(ran, session, assignment, self.preset), ran, session)


def make(settings: Settings) -> Backend:
    preset = PRESETS.get(settings.program or "", OTHER)
    argv = settings.argv or preset.argv or ((settings.program,) if settings.program else ())
    if not argv or not argv[0].strip():
        raise AotError(
            "an agent of the kind `acp` needs argv",
            hint=f'For example: argv = ["my-agent", "--acp"]; or program = one of: {", ".join(PRESETS)}.',
        )
    is_the_known_one = argv[:1] == preset.argv[:1]
    preset = replace(preset, argv=argv, tells_version=preset.tells_version and is_the_known_one)
    return Acp(preset=preset, model=settings.model, pass_env=settings.pass_env)


async def run_agent(
    preset: Preset,
    assignment: Assignment,
    env: dict[str, str],
    on_output: Callable[[str], None],
    session: AcpSession,
) -> Ran:
    spec = replace(spec_of(assignment, preset.argv, env, client=client_in(preset.argv)), stdin="pipe")
    transcript, own = assignment.evidence / scratch.TRANSCRIPT, assignment.scratch
    return await run(spec, transcript, on_output, session, scratch=own, remedy=preset.install)


def told(outcome: Outcome, ran: Ran, session: AcpSession) -> Outcome:
    """Adds what the attempt cost and what it printed."""
    return replace(
        outcome,
        seconds=ran.seconds,
        output=session.updates.told,
        tokens=session.tokens,
        cost_usd=session.updates.cost_usd,
        start=session.updates.watch.seconds,
        notes=outcome.notes + ran.notes + session.notes,
    )


def outcome_of(ran: Ran, session: AcpSession, assignment: Assignment, preset: Preset) -> Outcome:
    if session.trouble is not None:  # also if the time ran out meanwhile: the service was slow, not the agent
        return outcome_of_trouble(session.trouble, preset.log_in)
    if session.stop_reason is None:
        if ran.timed_out is not None:
            return TimedOut(reason=f"the agent {ran.timed_out.reason}", taught=ran.timed_out.taught)
        return Crashed(reason=f"{ran.ending} in the middle of its turn{last_output(session.updates.told, ran.stderr)}")
    return _ended(ran, session, assignment)


def _ended(ran: Ran, session: AcpSession, assignment: Assignment) -> Outcome:
    if session.stop_reason == "refusal":
        return Failed(reason=f"the model refuses{last_output(session.updates.told, ran.stderr)}", cause="refusal")
    if session.stop_reason != "end_turn":
        why = _STOPS.get(str(session.stop_reason), f"it stopped: {session.stop_reason}")
        return Crashed(reason=f"{why}{last_output(session.updates.told, ran.stderr)}")
    tail = last_output(session.updates.told, ran.stderr)
    return outcome_of_message(assignment.role, session.updates.message, assignment.cwd, tail)
