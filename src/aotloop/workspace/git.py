"""Only this module starts git. It hears nothing of the caller's git variables, asks nothing, and runs none of the
user's hooks, signatures or housekeeping.

A lock that somebody else holds is waited for, a bounded time. A git that was started is always waited for: it runs in
a session of its own, so that Ctrl-C does not end it half-way through somebody's files.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable

PATIENCE = 30
LOCK_PATIENCE = 10.0
LONGEST = 1800.0
"""Seconds after which a git that does not end is taken for hung: a checkout of a huge repository takes minutes."""

KEPT = re.compile(
    r"GIT_(CONFIG_\w+|EXEC_PATH|SSH|SSH_COMMAND|SSL_\w+|HTTP_PROXY_AUTHMETHOD|ALLOW_PROTOCOL|ASKPASS"
    r"|(AUTHOR|COMMITTER)_(NAME|EMAIL))"
)
"""Where the user's settings are, how the user connects, and who the user is; the rest speaks of some repository."""

_LOCKED = re.compile(
    r"'(?P<file>[^']*\.lock)': File exists"
    r"|could not lock config file (?P<config>[^\n:]*): File exists"
    r"|failed to read (?P<worktree>[^\n]*/commondir)"
)
"""The last is a worktree that another git is just making: git lists them all, and does not wait for one half made."""

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.safecrlf=false",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "color.ui=false",
    "log.showSignature=false",
    "submodule.recurse=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "trailer.separators=:",
    "worktree.useRelativePaths=false",
)

_WITHOUT_LFS = ("filter.lfs.required=false", "filter.lfs.process=", "filter.lfs.clean=", "filter.lfs.smudge=")
"""Only for this filter: its files then pass as the pointers they are. Any other may be there to encrypt."""


class Place(msgspec.Struct, frozen=True):
    """Where git works, and with which settings and variables of ours."""

    folder: Path
    settings: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


class Done(msgspec.Struct, frozen=True):
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """One line, without its end; a path may have any other character."""
        return os.fsdecode(self.out.removesuffix(b"\n"))

    @property
    def fields(self) -> tuple[str, ...]:
        """Of output in which each field ends with NUL."""
        return tuple(os.fsdecode(field) for field in self.out.split(b"\0")[:-1])

    @property
    def complaint(self) -> str:
        """What git says went wrong, in its own words."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        for mark in ("fatal: ", "error: "):
            for line in lines:
                if line.startswith(mark):
                    return line.removeprefix(mark)
        return lines[-1] if lines else f"exit {self.code}"


def git(
    place: Place,
    *words: str,
    stdin: bytes = b"",
    accept: Sequence[int] = (0,),
    lock_patience: float = LOCK_PATIENCE,
    longest: float | None = LONGEST,
    holding: Sequence[int] = (),
) -> Done:
    """Runs git to its end; exits that are not accepted are errors. An empty `accept` accepts every exit.

    `holding` are open locks that git keeps for as long as it runs, even if we are killed meanwhile.
    """
    deadline = time.monotonic() + lock_patience
    pause = 0.01
    while True:
        done = _run(place, words, stdin, longest, holding)
        lock = _LOCKED.search(done.err) if done.code else None
        if lock is None or done.code in accept:
            break
        if time.monotonic() + pause > deadline:
            path = lock["file"] or lock["config"] or lock["worktree"]
            raise Unavailable(
                f"git {words[0]}: another git process keeps {path}",
                hint="Wait for it to end. If none is running, it crashed: remove that file.",
            )
        time.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - so that two who wait do not meet again
        pause = min(pause * 2, 0.5)
    if accept and done.code not in accept:
        raise Unavailable(f"git {words[0]} failed in {place.folder}: {done.complaint}", hint=_hint(done.err))
    return done


def head_of(folder: str | Path) -> str | None:
    """The commit that is checked out; None where there is no repository, no commit, or no git."""
    try:
        done = git(Place(Path(folder)), "rev-parse", "--verify", "--quiet", "HEAD", accept=(), longest=PATIENCE)
    except Unavailable:
        return None
    return done.text if done.code == 0 else None


def _run(place: Place, words: Sequence[str], stdin: bytes, longest: float | None, holding: Sequence[int]) -> Done:
    settings = [*_SETTINGS, *place.settings]
    if shutil.which("git-lfs") is None:
        settings += _WITHOUT_LFS
    flags = [word for setting in settings for word in ("-c", setting)]
    try:
        process = subprocess.Popen(
            ["git", "--no-pager", "-C", str(place.folder), *flags, *words],
            env=_environment(dict(place.variables)),
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=holding,
        )
    except OSError as error:
        raise Unavailable(f"git cannot be started: {error.strerror}", hint="Install git 2.38 or newer.") from error
    with process, _limited(process, longest) as has_hung:
        try:
            out, err = process.communicate(stdin or None)
        except BaseException:
            process.communicate()
            raise
    if has_hung():
        raise Unavailable(f"git {words[0]} did not end within {longest or 0:g} seconds in {place.folder}")
    return Done(process.returncode, out, err.decode("utf-8", "replace"))


@contextlib.contextmanager
def _limited(process: subprocess.Popen[bytes], longest: float | None) -> Iterator[Callable[[], bool]]:
    """Not the time-out of `communicate`: with one, it waits for the end of a process in naps."""
    hung: list[bool] = []

    def end() -> None:
        hung.append(True)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)  # git then removes its lock files

    timer = threading.Timer(longest or 0, end)
    timer.daemon = True
    if longest is not None:
        timer.start()
    try:
        yield lambda: bool(hung)
    finally:
        timer.cancel()


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    """A GIT_DIR of a surrounding hook would make git speak of another repository."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or KEPT.fullmatch(name)}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":", "LC_ALL": "C", **ours}


def _hint(complaint: str) -> str | None:
    if "dubious ownership" in complaint:
        return "The repository belongs to another user; git's own words say how to accept it (safe.directory)."
    if "filter" in complaint and "failed" in complaint:
        return "A filter of .gitattributes could not be run: install it, or remove its `required` setting."
    if "No space left" in complaint:
        return "Make room on the disk."
    return None
