"""Only this module starts the processes of attempts: each in a session of its own, marked, seeing what it is given."""

from __future__ import annotations

import contextlib
import errno
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from aotloop.agents.confinement import Confinement, confined
from aotloop.agents.contract import Limits
from aotloop.errors import Unavailable

MARK = "AOT_ATTEMPT_MARK"
"""The variable by which everything an attempt started is known. An attempt within an attempt carries both marks."""


class Launch(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]
    """All of it: nothing is inherited."""
    transcript: Path
    stdin: str | None = None
    converses: bool = False
    """Its standard input stays open, for a partner to write to (see aotloop.agents.processes)."""
    remedy: str = "Install it, or correct the agent's argv in your configuration."
    """What to do where there is no such program."""
    limits: Limits = Limits()
    grace: float = 0.5
    confinement: Confinement | None = None


def start(launch: Launch, mark: str) -> subprocess.Popen[bytes]:
    """Raises Unavailable."""
    outer = launch.env.get(MARK)
    env = {**launch.env, MARK: f"{outer}:{mark}" if outer else mark}
    try:
        if _lacks_temporary_folder(launch):
            env["TMPDIR"] = str(_temporary_folder(launch))
            _temporary_folder(launch).mkdir(exist_ok=True)
        with _standard_input(launch) as stdin:
            return confined(launch.confinement, partial(_started, launch, env, stdin))
    except (OSError, ValueError) as error:
        raise _unavailable(error, launch) from error


def _started(launch: Launch, env: dict[str, str], stdin: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - starting programs the user configured is what a backend does
        launch.argv,
        cwd=launch.cwd,
        env=env,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
    )


def clear_away(launch: Launch) -> None:
    """What it needed while it ran, and nobody needs any more."""
    if _lacks_temporary_folder(launch):
        shutil.rmtree(_temporary_folder(launch), ignore_errors=True)


def _lacks_temporary_folder(launch: Launch) -> bool:
    """Whether it could make nothing in the usual one: a checkout in /tmp closes that, too."""
    usual = launch.env.get("TMPDIR") or tempfile.gettempdir()
    return launch.confinement is not None and not launch.confinement.lets_make_in(usual)


def _temporary_folder(launch: Launch) -> Path:
    return launch.transcript.parent / "tmp"


@contextlib.contextmanager
def _standard_input(launch: Launch) -> Iterator[int]:
    """Of a text a file, not a pipe: however long the text and whoever does not read it, nobody waits."""
    if launch.stdin is None:
        yield subprocess.PIPE if launch.converses else subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(launch.stdin.encode("utf-8", "replace"))
        file.seek(0)
        yield file.fileno()


def _unavailable(error: OSError | ValueError, launch: Launch) -> Unavailable:
    program = launch.argv[0]
    if not launch.cwd.is_dir():
        return Unavailable(f"{program} cannot be started: there is no folder {launch.cwd}")
    if isinstance(error, FileNotFoundError):
        return Unavailable(f"there is no program {program}", hint=launch.remedy)
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return Unavailable(
            f"{program} cannot be started: its arguments are too long",
            hint="Give the prompt as {prompt_file} or on standard input instead of {prompt}.",
        )
    return Unavailable(f"{program} cannot be started: {getattr(error, 'strerror', None) or error}")
