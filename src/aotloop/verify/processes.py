"""Only this module starts the processes of checks; when `run` returns, nothing it started is left.

One command = one shell in its own session, without input, its output and errors merged. The calling thread
reads, and waits for the shell, the time-out and a cancellation, all at once, so that none can hold up
another.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import threading
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from aotloop.survivors import Tree
from aotloop.verify.cancellation import Cancellation
from aotloop.verify.capture import Capture
from aotloop.verify.wakeups import end_of, woken_by

_OF_A_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""If a hook started us, git would speak of its repository, not of the one that the check is about."""

MARK = "AOT_CHECK_ID"
"""The variable by which everything a check started is known. A check within a check carries both marks."""

_CHUNK = 64 * 1024
"""As much as a pipe holds by default."""

_GRACE_SECONDS = 0.5
"""Between SIGTERM and SIGKILL. A cancelled check has to be dead within a second."""

_LINGER_SECONDS = 0.1
"""How long after the shell's end a last writer (a `tee`, say) may go on before it is killed."""

_TICK_SECONDS = 0.02
_LONG_SECONDS = 60.0


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    problem: str | None = None
    """Why the command could not be started; then nothing else is set."""
    duration: float = 0.0
    output: str = ""


def run(
    command: str,
    *,
    cwd: Path,
    timeout: float,
    env: Mapping[str, str] | None = None,
    cancellation: Cancellation | None = None,
    parse_only: bool = False,
) -> Outcome:
    """Runs a shell command to its end. With `parse_only` the shell reads the command and executes nothing."""
    ours = Cancellation()

    def work() -> Outcome:
        return _run(command, cwd, timeout, {**_surroundings(), **(env or {})}, ours, parse_only=parse_only)

    with (cancellation or Cancellation()).calling(ours.cancel):
        if threading.current_thread() is not threading.main_thread():
            return work()
        # Ctrl-C is raised in the main thread wherever that is, even inside Popen after the fork, where no
        # `try` of ours knows the process yet. In another thread the work always reaches its end.
        with ThreadPoolExecutor(1) as pool:
            try:
                return pool.submit(work).result()
            except BaseException:
                ours.cancel()
                raise


def _run(
    command: str,
    cwd: Path,
    timeout: float,
    env: dict[str, str],
    cancellation: Cancellation,
    *,
    parse_only: bool,
) -> Outcome:
    if cancellation.cancelled:
        return Outcome(cancelled=True)
    mark = uuid.uuid4().hex
    try:
        shell = _start(command, cwd, env, mark, parse_only=parse_only)
    except (OSError, ValueError) as error:
        return Outcome(problem=_explain(error, command, cwd))
    return _Running(shell, mark, cancellation).until(timeout)


def _surroundings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _OF_A_REPOSITORY}


def _start(command: str, cwd: Path, env: dict[str, str], mark: str, *, parse_only: bool) -> subprocess.Popen[bytes]:
    env[MARK] = f"{env[MARK]}:{mark}" if env.get(MARK) else mark
    return subprocess.Popen(  # noqa: S603 - running the file's commands is what a check is; trust is asked before
        ["/bin/sh", *(["-n"] if parse_only else []), "-c", command],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=True,
    )


def _explain(error: OSError | ValueError, command: str, cwd: Path) -> str:
    if "\0" in command:
        return "the command contains a NUL character"
    if not cwd.is_dir():
        return f"there is no directory {cwd}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class _Running:
    def __init__(self, shell: subprocess.Popen[bytes], mark: str, cancellation: Cancellation) -> None:
        if shell.stdout is None:
            raise AssertionError("started with a pipe")
        self._shell = shell
        self._pipe = shell.stdout
        self._mark = mark
        self._cancellation = cancellation
        self._capture = Capture()
        self._pipe_open = True
        self._started = time.monotonic()
        os.set_blocking(self._pipe.fileno(), False)

    def until(self, timeout: float) -> Outcome:
        try:
            timed_out = self._follow(self._started + timeout)
            status = self._shell.returncode  # taken before anything is killed: later it may be our own signal
            if status is not None:
                self._linger()
        finally:
            # On the way out of an exception, too, leave nothing behind.
            self._clear_away()
        return Outcome(
            exit_code=status if status is not None and status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            timed_out=timed_out,
            cancelled=status is None and not timed_out,
            duration=time.monotonic() - self._started,
            output=self._capture.text(),
        )

    def _follow(self, deadline: float) -> bool:
        """Reads until the shell ends, the time is up (True) or everything is cancelled."""
        with contextlib.ExitStack() as stack:
            selector = stack.enter_context(selectors.DefaultSelector())
            selector.register(self._pipe, selectors.EVENT_READ)
            selector.register(stack.enter_context(woken_by(self._cancellation)), selectors.EVENT_READ)
            end = stack.enter_context(end_of(self._shell.pid))
            if end is not None:
                selector.register(end, selectors.EVENT_READ)
            longest = _TICK_SECONDS if end is None else _LONG_SECONDS
            while self._shell.poll() is None and not self._cancellation.cancelled:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return True
                for key, _ in selector.select(min(remaining, longest)):
                    if key.fileobj is self._pipe and not self._read():
                        selector.unregister(self._pipe)
        return False

    def _linger(self) -> None:
        deadline = time.monotonic() + _LINGER_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self._pipe, selectors.EVENT_READ)
            while self._pipe_open and selector.select(max(0, deadline - time.monotonic())):
                self._read()
                if time.monotonic() >= deadline:
                    return

    def _clear_away(self) -> None:
        # An open pipe is somebody who holds it; a shell without a status was not waited for.
        tree = Tree(self._mark, self._shell)
        if self._pipe_open or self._shell.returncode is None or tree.anything_left():
            tree.kill(_GRACE_SECONDS)
            if self._pipe_open:
                self._read()
        self._pipe.close()

    def _read(self) -> bool:
        """One chunk, if there is one; False once no more can come."""
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self._pipe.fileno(), _CHUNK)
            self._capture.add(chunk)
            self._pipe_open = bool(chunk)
        return self._pipe_open
