"""Command checks: the exit code decides. A command that could not run, or did not end by itself, proves nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from aotloop.checks.results import CheckResult
from aotloop.errors import Unavailable
from aotloop.process import blocking_run
from aotloop.process.cancellation import Cancellation
from aotloop.process.environment import CHECK_MARK, LEAVING_NOTHING, for_commands, named
from aotloop.process.exit_status import CANNOT_RUN, signal_behind, signal_name
from aotloop.process.output import HeadAndTail
from aotloop.process.sandbox import Confinement
from aotloop.process.spec import Ending, Limits, ProcessSpec
from aotloop.text.secrets import Secrets, secret_values
from aotloop.text.shorten import LINE, last_line

TIMEOUT = 120.0
PASSED = "AOT_CHECK_ENV"
"""The person's variable that names more variables for checks, separated by commas."""

_SYNTAX_ERROR = 2
_PARSE_SECONDS = 10.0


def check_command(
    command: str,
    *,
    root: Path,
    timeout: float = TIMEOUT,
    expect_fail: bool = False,
    cancellation: Cancellation | None = None,
    env: Mapping[str, str] | None = None,
    confinement: Confinement | None = None,
) -> CheckResult:
    if _says_nothing(command):
        outcome = Outcome(problem="the command is blank")
    else:
        outcome = run(command, cwd=root, timeout=timeout, cancellation=cancellation, env=env, confinement=confinement)
    doubt = _doubt(outcome, timeout)
    if doubt is None and expect_fail and outcome.exit_code == _SYNTAX_ERROR:
        # The shell's own code for a command it cannot parse. Only a parse tells it from a command's exit 2.
        parsed = run(command, cwd=root, timeout=_PARSE_SECONDS, cancellation=cancellation, env=env, parse_only=True)
        if parsed.exit_code:
            doubt = f"exit {outcome.exit_code}: the shell cannot read the command"
    return CheckResult(
        name=command,
        kind="not_command" if expect_fail else "command",
        passed=doubt is None and (outcome.exit_code != 0 if expect_fail else outcome.exit_code == 0),
        evidence=_evidence(outcome, doubt, expect_fail=expect_fail),
        value=command,
        exit_code=outcome.exit_code,
        duration=outcome.duration,
        output=outcome.output,
    )


def _says_nothing(command: str) -> bool:
    """Blank or only comments: the shell would exit 0 without checking anything."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in command.splitlines())


def _doubt(outcome: Outcome, timeout: float) -> str | None:
    """Why this outcome proves nothing about the command; None if it does prove something."""
    time = f"after {outcome.duration:.1f} s"
    code = outcome.exit_code or 0
    if outcome.problem is not None:
        doubt = f"could not be started: {outcome.problem}"
    elif outcome.timed_out:
        doubt = f"timed out after {timeout:g} s and was killed"
    elif outcome.cancelled:
        doubt = f"cancelled {time}"
    elif outcome.signal is not None:
        doubt = f"killed by {signal_name(outcome.signal)} {time}"
    elif code in CANNOT_RUN:
        doubt = f"exit {code} {time}: {CANNOT_RUN[code]}"
    elif (killer := signal_behind(code, None)) is not None:
        doubt = f"exit {code} {time}: killed by {signal_name(killer)}"
    else:
        return None
    return doubt


def _evidence(outcome: Outcome, doubt: str | None, *, expect_fail: bool) -> str:
    if doubt is not None:
        text = f"{doubt}, which proves nothing" if expect_fail else doubt
    elif expect_fail and outcome.exit_code == 0:
        text = f"exit 0 after {outcome.duration:.1f} s, but it should fail"
    else:
        text = f"exit {outcome.exit_code} after {outcome.duration:.1f} s"
    line = last_line(outcome.output, LINE)
    return f"{text}; last line: {line}" if line else text


_ENDING = Ending(
    grace=0.5,  # a cancelled check must be dead within a second
    linger=0.1,  # a last writer (for example `tee`) may continue for a moment
)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    problem: str | None = None
    """Why the command could not be started; then no other field is set."""
    duration: float = 0.0
    output: str = ""


def run(
    command: str,
    *,
    cwd: Path,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cancellation: Cancellation | None = None,
    confinement: Confinement | None = None,
    parse_only: bool = False,
) -> Outcome:
    """Runs a shell command to its end. With `parse_only` the shell reads the command and executes nothing."""
    spec = ProcessSpec(
        argv=("/bin/sh", *(("-n",) if parse_only else ()), "-c", command),
        cwd=cwd,
        env={**_surroundings(), **(env or {})},
        stderr="stdout",
        mark=CHECK_MARK,
        confinement=confinement,
        limits=Limits(total=timeout),
        ending=_ENDING,
    )
    output = HeadAndTail()
    try:
        completed = blocking_run.run(spec, out=output, cancellation=cancellation)
    except Unavailable as error:
        return Outcome(problem=error.message)
    except (OSError, ValueError) as error:
        return Outcome(problem=_explain(error, command, cwd))
    return Outcome(
        exit_code=completed.exit_code,
        signal=completed.signal,
        timed_out=completed.expiry is not None,
        cancelled=completed.cancelled,
        duration=completed.seconds,
        output=_known_secrets(tuple(secret_values({**os.environ, **(env or {})}))).without_known(output.text()),
    )


def _surroundings() -> dict[str, str]:
    """Without the person's keys: a check runs code that agents wrote, and other agents see its output."""
    kept = [name.strip() for name in os.environ.get(PASSED, "").split(",")]
    return {**LEAVING_NOTHING, **for_commands(os.environ), **named(os.environ, kept)}


@cache
def _known_secrets(values: tuple[str, ...]) -> Secrets:
    """What a command prints becomes a prompt, an event and a part of the state file."""
    return Secrets(values)


def _explain(error: OSError | ValueError, command: str, cwd: Path) -> str:
    if "\0" in command:
        return "the command contains a NUL character"
    if not cwd.is_dir():
        return f"there is no directory {cwd}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
