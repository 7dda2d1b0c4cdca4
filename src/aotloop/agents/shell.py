"""The backend `shell` does atoms that have `run`: a command that exits 0 has done its atom.

A person has accepted the words of the command; the files that it runs may be an agent's. So it runs behind the same
fence as an agent, unless the person's own settings say otherwise, or it works in the checkout itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec

from aotloop.agents.attempt import scratch
from aotloop.agents.attempt.agent_process import Ran, environment, last_output, run, spec_of
from aotloop.agents.client.detection import Presence, look_for
from aotloop.agents.contract import Assignment, Backend, Capabilities, Crashed, Done, Failed, Outcome, TimedOut
from aotloop.agents.registry import Settings
from aotloop.errors import AotError
from aotloop.process.exit_status import could_not_run, signal_behind
from aotloop.text.shorten import last_line, one_line

_SHELL = "/bin/sh"
_LONGEST_SUMMARY = 500


class Shell(msgspec.Struct, frozen=True, kw_only=True):
    pass_env: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return "shell"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(structured_output="emulated", interrupt="emulated")

    def look(self) -> Presence:
        return look_for(_SHELL, install="A POSIX system has one; install it.", tells_version=False)

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        command = assignment.command
        if command is None or assignment.role != "worker":
            raise AotError(
                f"{assignment.atom} cannot be done by the shell: it is no {assignment.role}, and needs a `run`"
            )
        if not command.strip():
            return Failed(reason="the command is blank")
        scratch.prepare(assignment)
        env = environment(assignment, os.environ, self.pass_env)
        fence = assignment.confinement
        confined = fence is not None and fence.policy.holds_commands
        spec = spec_of(assignment, (_SHELL, "-c", command), env, confined=confined)
        transcript = assignment.evidence / scratch.TRANSCRIPT
        return _outcome(await run(spec, transcript, on_output, scratch=assignment.scratch), command)


def make(settings: Settings) -> Backend:
    return Shell(pass_env=settings.pass_env)


def _outcome(ran: Ran, command: str) -> Outcome:
    seconds, output, notes = ran.seconds, ran.output, ran.notes
    if ran.timed_out is not None:
        reason, taught = f"the command {ran.timed_out.reason}", ran.timed_out.taught
        return TimedOut(reason=reason, taught=taught, seconds=seconds, output=output, notes=notes)
    if ran.exit_code == 0:
        summary = last_line(ran.stdout, _LONGEST_SUMMARY) or last_line(ran.stderr, _LONGEST_SUMMARY)
        summary = summary or f"the command succeeded: {one_line(command, 100)}"
        return Done(summary=summary, seconds=seconds, output=output, notes=notes)
    reason = f"{ran.ending} after {seconds:.1f} s{last_output(output)}"
    if signal_behind(ran.exit_code, ran.signal) is not None:
        return Crashed(reason=reason, seconds=seconds, output=output, notes=notes)
    taught = not could_not_run(ran.exit_code)
    return Failed(reason=reason, taught=taught, seconds=seconds, output=output, notes=notes)
