"""One process of an attempt: described from its assignment, followed to its end, and kept in a transcript."""

from __future__ import annotations

import contextlib
import errno
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.attempt.attempt_output import Following
from aotloop.agents.attempt.scratch import BINDINGS
from aotloop.agents.contract import Assignment
from aotloop.deletion import discard_tree
from aotloop.errors import Unavailable
from aotloop.process import async_run
from aotloop.process.environment import ATTEMPT_MARK, LEAVING_NOTHING, scrub
from aotloop.process.exit_status import Completed, status_in_words
from aotloop.process.sandbox.engine import lets_make_in
from aotloop.process.spec import Ending, Expiry, ProcessSpec
from aotloop.process.transport import Listener
from aotloop.text.shorten import last_lines

LINGER = 0.1
"""Seconds after the process's end in which a last writer (a `tee`, say) may go on before it is killed."""

_LONGEST_TAIL = 1000
_REMEDY = "Install it, or correct the agent's argv in your configuration."


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    exit_code: int | None = None
    signal: int | None = None
    timed_out: Expiry | None = None
    ending: str
    """How it ended, in words."""
    seconds: float
    stdout: str
    """The end of the standard output."""
    stderr: str
    output: str
    """The end of both streams, in the order in which the text came."""
    notes: tuple[str, ...] = ()


def spec_of(
    assignment: Assignment,
    argv: tuple[str, ...],
    env: dict[str, str],
    stdin: str | None = None,
    *,
    confined: bool = True,
    client: str | None = None,
) -> ProcessSpec:
    """`env` is the whole environment. `stdin` is a text for its standard input; None: the input is empty.

    `client`: its name, if it is a client that we know; behind a fence its own state stays open.
    `confined`: False for a program that confines itself, and for a command for which the person wants no fence.
    """
    fence = assignment.confinement
    return ProcessSpec(
        argv=argv,
        cwd=assignment.cwd,
        env=env,
        stdin=stdin.encode("utf-8", "replace") if stdin is not None else "nothing",
        mark=ATTEMPT_MARK,
        confinement=fence.for_client(client) if confined and fence is not None else None,
        limits=assignment.limits,
        ending=Ending(grace=assignment.grace, linger=LINGER),
    )


async def run(
    spec: ProcessSpec,
    transcript: Path,
    on_output: Callable[[str], None],
    listener: Listener | None = None,
    *,
    scratch: Path | None = None,
    remedy: str = _REMEDY,
) -> Ran:
    """Raises Unavailable if the program could not start. `listener` gets all output instead of `on_output`.

    `scratch`: the folder that is open to it; None: that of the transcript. `remedy`: advice for the person if the
    program is not installed.
    """
    following = Following(transcript, on_output, listener)
    ending = "cancelled"
    with _temporary_folder(spec, scratch if scratch is not None else transcript.parent) as spec_there:
        try:
            completed = await async_run.run(spec_there, following)
            ending = _ending_in_words(completed)
            following.hand_on_the_rest()
        except (OSError, ValueError) as error:
            if following.has_begun:
                raise
            raise not_started(error, spec, remedy) from error
        finally:
            if following.has_begun:
                following.close(ending)
    return Ran(
        exit_code=completed.exit_code,
        signal=completed.signal,
        timed_out=completed.expiry,
        ending=ending,
        seconds=completed.seconds,
        stdout=following.tails["stdout"].text(),
        stderr=following.tails["stderr"].text(),
        output=following.output.text(),
        notes=following.problems,
    )


def _ending_in_words(completed: Completed) -> str:
    if completed.expiry is not None:
        return completed.expiry.reason
    return status_in_words(completed.status) if completed.status is not None else "ended by us"


@contextlib.contextmanager
def _temporary_folder(spec: ProcessSpec, beside: Path) -> Iterator[ProcessSpec]:
    """Gives the process its own temporary folder if the usual one is not writable: a checkout in /tmp closes that."""
    usual = spec.env.get("TMPDIR") or tempfile.gettempdir()
    if spec.confinement is None or lets_make_in(spec.confinement, usual):
        yield spec
        return
    own = beside / "tmp"
    try:
        own.mkdir(exist_ok=True)
    except OSError as error:
        raise not_started(error, spec) from error
    try:
        yield replace(spec, env={**spec.env, "TMPDIR": str(own)})
    finally:
        try:
            own.rmdir()  # most commands leave nothing in it
        except OSError:
            discard_tree(own)


def not_started(error: OSError | ValueError, spec: ProcessSpec, remedy: str = _REMEDY) -> Unavailable:
    """Why the program could not start, in words."""
    program = spec.argv[0]
    if spec.cwd is not None and not spec.cwd.is_dir():
        return Unavailable(f"{program} cannot be started: there is no folder {spec.cwd}")
    if isinstance(error, FileNotFoundError):
        return Unavailable(f"there is no program {program}", hint=remedy)
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return Unavailable(
            f"{program} cannot be started: its arguments are too long",
            hint="Give the prompt as {prompt_file} or on standard input instead of {prompt}.",
        )
    return Unavailable(f"{program} cannot be started: {getattr(error, 'strerror', None) or error}")


def last_output(*texts: str) -> str:
    """The end of a reason: what it printed last."""
    tail = last_lines("\n".join(texts), _LONGEST_TAIL)
    return f"; its last output:\n{tail}" if tail else "; it printed nothing"


def environment(assignment: Assignment, surroundings: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """All variables that the agent of this assignment sees; `more` are names from the configuration."""
    return {
        **LEAVING_NOTHING,
        **scrub(surroundings, allow=more),
        **assignment.env,
        "AOT_RUN_ID": assignment.run_id,
        "AOT_ATOM_ID": assignment.atom,
        "AOT_ATTEMPT": str(assignment.attempt),
        "AOT_ROLE": assignment.role,
        "AOT_STATE_FILE": str(assignment.state_file),
        "AOT_BINDINGS": str(assignment.evidence / BINDINGS),
        **({"AOT_MAX_COST_USD": f"{assignment.max_cost_usd:.4f}"} if assignment.max_cost_usd is not None else {}),
    }
