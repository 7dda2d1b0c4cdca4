"""Only this module runs git. It ignores the caller's git variables, and runs no hooks of the user.

Git asks no questions, signs nothing, and does no housekeeping. It reads no settings from the home folder or the system:
agents may write there. What of them counts is read once, see `pinned_settings`. If another process holds a lock, the
call waits for a bounded time. In the person's checkout, a git that was started runs to its end: it has its own session,
so that Ctrl-C does not stop it in the middle of writing files. In a folder of ours, a cancellation ends it.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.git.head import checkout_of
from aotloop.git.pipes import released
from aotloop.process import blocking_run
from aotloop.process.cancellation import Cancellation, governing_cancellation
from aotloop.process.environment import scrub
from aotloop.process.output import Whole
from aotloop.process.own_programs import own_path, own_program
from aotloop.process.spec import Ending, Limits, ProcessSpec

PATIENCE = 30
LOCK_PATIENCE = 10.0
LONGEST = 1800.0
"""Seconds after which a git counts as hung: a checkout of a huge repository takes minutes."""

_ENDING = Ending(
    grace=10.0,  # after SIGTERM git removes its lock files
    clears=False,  # a git may leave a helper of the person behind, such as one that keeps credentials
    interrupt="finish",
)

_LOCKED = re.compile(
    r"'(?P<file>[^']*\.lock)': File exists"
    r"|could not lock config file (?P<config>[^\n:]*): File exists"
    r"|failed to read (?P<worktree>[^\n]*/commondir)"
)
"""The last is a worktree that another git is making: git lists all worktrees, and does not wait for this one."""

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
    "safe.bareRepository=explicit",
    "diff.external=",
    "core.alternateRefsCommand=",
)

_NO_OTHER_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1"}

_AS_IT_IS = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": os.devnull}
"""A commit has the files that it has, and not others that someone set in their place in the git folder."""

_WITHOUT_LFS = ("filter.lfs.required=false", "filter.lfs.process=", "filter.lfs.clean=", "filter.lfs.smudge=")
"""Only for this filter: its files then pass as pointers. Other filters may be there to encrypt."""


class Place(msgspec.Struct, frozen=True):
    """The folder in which git works, with our settings and variables."""

    folder: Path
    settings: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    is_ours: bool = False
    """A folder of ours: git may be cancelled there, and knows only the settings of the git folder that it is given."""
    reads_home: bool = False
    """Git reads the person's own settings, in the home folder and of the system."""


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
        """The fields of output in which each field ends with NUL."""
        return tuple(os.fsdecode(field) for field in self.out.split(b"\0")[:-1])

    @property
    def complaint(self) -> str:
        """The error in git's own words."""
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
    most: int | None = None,
) -> Done:
    """Runs git to its end; exits that are not accepted are errors. An empty `accept` accepts every exit.

    `holding` are open locks that git keeps for as long as it runs, even if we are killed meanwhile. A git that prints
    more than `most` bytes is ended, which is an error.
    """
    deadline = time.monotonic() + lock_patience
    pause = 0.01
    while True:
        done = _run(place, words, stdin, longest, holding, most)
        lock = _LOCKED.search(done.err) if done.code else None
        if lock is None or done.code in accept:
            break
        if time.monotonic() + pause > deadline:
            path = lock["file"] or lock["config"] or lock["worktree"]
            raise Unavailable(
                f"git {words[0]}: another git process keeps {path}",
                hint="Wait for it to end. If none is running, it crashed: remove that file.",
            )
        time.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - so that two waiting processes do not meet again
        pause = min(pause * 2, 0.5)
    if accept and done.code not in accept:
        raise Unavailable(f"git {words[0]} failed in {place.folder}: {done.complaint}", hint=_hint(done.err))
    return done


def head_of(folder: str | Path) -> str | None:
    """The commit that is checked out; None where there is no repository, no commit, or no git."""
    try:
        place = Place(Path(checkout_of(str(folder)) or folder))
        done = git(place, "rev-parse", "--verify", "--quiet", "HEAD", accept=(), longest=PATIENCE)
    except Unavailable:
        return None
    return done.text if done.code == 0 else None


def _run(
    place: Place,
    words: Sequence[str],
    stdin: bytes,
    longest: float | None,
    holding: Sequence[int],
    most: int | None,
) -> Done:
    settings = [*_SETTINGS, *place.settings]
    if not place.is_ours and own_program("git-lfs") is None:
        settings += _WITHOUT_LFS
    flags = [word for setting in settings for word in ("-c", setting)]
    spec = ProcessSpec(
        argv=(_program(), "--no-pager", "-C", str(place.folder), *flags, *words),
        env=_environment(place),
        stdin=stdin or "nothing",
        held=tuple(holding),
        limits=Limits(total=longest),
        ending=_ENDING,
    )
    excess = Cancellation() if most is not None else None
    out, err = Whole(most, excess.cancel if excess is not None else lambda: None), Whole()
    cancellation = governing_cancellation() if place.is_ours else None
    try:
        with nullcontext() if place.is_ours else released(place.folder):
            completed = blocking_run.run(spec, out=out, err=err, cancellation=excess or cancellation)
    except OSError as error:
        raise Unavailable(f"git cannot be started: {error.strerror}", hint="Install git 2.38 or newer.") from error
    if out.is_excessive:
        raise Unavailable(f"git {words[0]} printed more than {most} bytes in {place.folder}")
    if completed.cancelled:
        raise Unavailable(f"git {words[0]} was stopped in {place.folder}")
    if completed.status is None:
        raise Unavailable(f"git {words[0]} did not end within {longest or 0:g} seconds in {place.folder}")
    return Done(completed.status, out.data(), err.text())


def _program() -> str:
    program = own_program("git")
    if program is None:
        raise Unavailable(
            "git cannot be started: it is not installed, or only inside a project, where agents can change it",
            hint="Install git 2.38 or newer.",
        )
    return program


def _environment(place: Place) -> dict[str, str]:
    kept = scrub(os.environ, git="person")
    if place.is_ours:
        kept = {name: value for name, value in kept.items() if not name.startswith("GIT_CONFIG")}
    fixed = {"PATH": own_path(), "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": ":", "LC_ALL": "C", **_AS_IT_IS}
    pinned = {} if place.reads_home else _NO_OTHER_SETTINGS
    return {**kept, **fixed, **pinned, **dict(place.variables)}


def _hint(complaint: str) -> str | None:
    if "dubious ownership" in complaint:
        return "The repository belongs to another user; git's own words say how to accept it (safe.directory)."
    if "filter" in complaint and "failed" in complaint:
        return "A filter of .gitattributes could not be run: install it, or remove its `required` setting."
    if "No space left" in complaint:
        return "Make room on the disk."
    return None
