"""A command decides by its exit code; one that could not run, or did not end by itself, proves nothing."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from pathlib import Path

from aotloop.verify.cancellation import Cancellation
from aotloop.verify.processes import Outcome, run
from aotloop.verify.results import CheckResult

TIMEOUT = 120.0

_CANNOT_RUN = {126: "the command is not executable", 127: "command not found"}
_SYNTAX_ERROR = 2
_PARSE_SECONDS = 10.0
_LINE_LENGTH = 160
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b.|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def check_command(
    command: str,
    *,
    root: Path,
    timeout: float = TIMEOUT,
    expect_fail: bool = False,
    cancellation: Cancellation | None = None,
    env: Mapping[str, str] | None = None,
) -> CheckResult:
    if _says_nothing(command):
        outcome = Outcome(problem="the command is blank")
    else:
        outcome = run(command, cwd=root, timeout=timeout, cancellation=cancellation, env=env)
    doubt = _doubt(outcome, timeout)
    if doubt is None and expect_fail and outcome.exit_code == _SYNTAX_ERROR:
        # The shell's own code for a command it cannot read; only asking tells that from a command's exit 2.
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
    """Blank or only comments: the shell would exit 0, having checked nothing."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in command.splitlines())


def _doubt(outcome: Outcome, timeout: float) -> str | None:
    """Why this outcome proves nothing about the command, if it does not."""
    time = f"after {outcome.duration:.1f} s"
    code = outcome.exit_code or 0
    if outcome.problem is not None:
        doubt = f"could not be started: {outcome.problem}"
    elif outcome.timed_out:
        doubt = f"timed out after {timeout:g} s and was killed"
    elif outcome.cancelled:
        doubt = f"cancelled {time}"
    elif outcome.signal is not None:
        doubt = f"killed by {_signal_name(outcome.signal)} {time}"
    elif code in _CANNOT_RUN:
        doubt = f"exit {code} {time}: {_CANNOT_RUN[code]}"
    elif code - 128 in signal.valid_signals():
        # A shell reports a signal that killed its last command this way.
        doubt = f"exit {code} {time}: killed by {_signal_name(code - 128)}"
    else:
        return None
    return doubt


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _evidence(outcome: Outcome, doubt: str | None, *, expect_fail: bool) -> str:
    if doubt is not None:
        text = f"{doubt}, which proves nothing" if expect_fail else doubt
    elif expect_fail and outcome.exit_code == 0:
        text = f"exit 0 after {outcome.duration:.1f} s, but it should fail"
    else:
        text = f"exit {outcome.exit_code} after {outcome.duration:.1f} s"
    line = _last_line(outcome.output)
    return f"{text}; last line: {line}" if line else text


def _last_line(output: str) -> str:
    """Without colours and control characters: evidence is shown in terminals and put into prompts."""
    for line in reversed(output[-4096:].splitlines()):
        text = _ESCAPES.sub("", line).strip()
        if text:
            return text if len(text) <= _LINE_LENGTH else f"{text[:_LINE_LENGTH]}…"
    return ""
