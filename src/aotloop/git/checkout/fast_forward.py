"""The only module that changes the person's checkout: it moves by whole commits, or not at all.

Forward to a commit on top of HEAD; or back, to the commit before one that has to leave the branch again.

Two locks are held. The integration lock, a flock, keeps other runs out; git inherits it, so that it lasts as long as
the git that works under it. `index.lock`, git's own, keeps the person's git commands out from the moment HEAD is read
until it has moved. Git itself then works on a copy of the index, which becomes the index at success.

Our `index.lock` says which step is being done. If a process gets the integration lock and finds an `index.lock` of
ours, the process before it died. It then completes the files that git had half written, and lands the same commit
again. Files that already equal those of the commit do not block it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

import msgspec
from msgspec.structs import replace

from aotloop.errors import Unavailable
from aotloop.flock import locked_file
from aotloop.git.checkout.backward import is_backward, move_back
from aotloop.git.checkout.torn_files import mend, note_files, unwind
from aotloop.git.command import LOCK_PATIENCE, Done, Place, git
from aotloop.git.commits.objects import nothing
from aotloop.git.repository import Repository, changed
from aotloop.text.phrases import listed

LOCK = "aot-integration.lock"
PATIENCE = 120.0
"""Seconds to wait for another run, which lands or reverts in milliseconds."""

_COPY = "aot-landing-index"
_DRAFT = "aot-claim"
_LONGEST_LOCK = 3.0
"""Seconds. Git keeps the lock of a branch for a moment, unless a hook of the person's makes it wait."""


class Landed(msgspec.Struct, frozen=True):
    commit: str


class Moved(msgspec.Struct, frozen=True):
    head: str | None


class Blocked(msgspec.Struct, frozen=True):
    reason: str
    paths: tuple[str, ...] = ()
    is_busy: bool = False
    """Blocked by a git that may end in a moment."""


class Step(msgspec.Struct, frozen=True):
    """The start, the target and the branch of a move."""

    head: str | None
    commit: str
    branch: str | None


class Landing:
    """The operations that need the integration lock, while it is held."""

    def __init__(self, repository: Repository, lock: int) -> None:
        self._repository = repository
        self._lock = lock
        self._index = repository.git_dir / "index"
        self._claim = repository.git_dir / "index.lock"
        self._copy = repository.git_dir / _COPY
        self._draft = repository.git_dir / _DRAFT

    def go(self, step: Step, *, lock_patience: float = LOCK_PATIENCE) -> Landed | Moved | Blocked:
        if not self._claimed(step, lock_patience):
            reason = f"another git process keeps {self._claim}; if none is running, remove that file"
            return Blocked(reason, is_busy=True)
        try:
            return self._advance(step)
        finally:
            self._release()

    def finish(self) -> None:
        """Finishes the step of a process that died. Its git held the same lock, so that git is dead, too."""
        self._draft.unlink(missing_ok=True)
        step = self._begun()
        if step is not None:
            self._forget_locks(step)
            try:
                if self._repository.head().commit == step.head:
                    self._copy_index()
                    mend(self._repository, self._place, step.head, step.commit)
                self._advance(step)
            finally:
                self._release()

    def _forget_locks(self, step: Step) -> None:
        """Also removes the locks of a git that was killed. A living git soon removes its own."""
        names = [self._repository.git_dir / name for name in ("HEAD.lock", "ORIG_HEAD.lock")]
        if step.branch is not None:
            names.append(self._repository.common_dir / f"{step.branch}.lock")
        deadline = time.monotonic() + _LONGEST_LOCK
        for path in names:
            found = before = _inode(path)
            while found is not None and found == before:
                if time.monotonic() > deadline:
                    path.unlink(missing_ok=True)
                time.sleep(0.02)
                found = _inode(path)

    def _advance(self, step: Step) -> Landed | Moved | Blocked:
        now = self._repository.head()
        if now.branch != step.branch:
            return Blocked(other_branch(step.branch, now.branch))
        if now.commit == step.commit:
            if self._copy.exists():  # only its index was missing
                self._copy.replace(self._index)
            return Landed(step.commit)
        if now.commit != step.head:
            return Moved(now.commit)
        self._copy_index()
        if step.head is None and (obstacle := self._first_obstacle(step)):
            return obstacle
        done = self._merged(step)
        if done.code:
            return self._obstacle(step, done)
        self._copy.replace(self._index)
        return Landed(step.commit)

    def _merged(self, step: Step) -> Done:
        """If the merge fails, the files that git wrote before are taken back."""
        begun = self._claim.stat().st_ctime_ns  # it got its name a moment ago
        is_done = False
        try:
            done = self._merge(step)
            if done.code < 0:  # it was killed, and its locks outlive it
                self._forget_locks(step)
            if done.code:
                done = self._merge_again(step) or done
            is_done = not done.code
            return done
        finally:
            if not is_done:
                unwind(self._repository, step.head, step.commit, since=begun)

    def _first_obstacle(self, step: Step) -> Blocked | None:
        """Without any commit yet, git would overwrite ignored files."""
        paths = self._paths(step)
        note_files(self._place, paths)  # so git sees that they are not those of the commit
        top = self._repository.top
        files = {
            folder
            for path in paths
            for folder in _folders(path)
            if os.path.lexists(top / folder) and not (top / folder).is_dir()
        }
        return _blocked(sorted(files)) if files else None

    def _merge(self, step: Step) -> Done:
        if step.head is not None and is_backward(self._repository, step.head, step.commit):
            return move_back(self._place, step.head, step.commit, holding=[self._lock])
        options = ("--no-overwrite-ignore", "--no-autostash", "--no-squash", "--no-verify-signatures", "--no-stat")
        return git(
            self._place,
            "merge",
            "--ff-only",
            "-q",
            *options,
            step.commit,
            accept=(),
            longest=None,
            holding=[self._lock],
        )

    def _merge_again(self, step: Step) -> Done | None:
        """Merges again with the blocking files in the index, in case they equal those of the commit."""
        paths = self._paths(step)
        if step.head is None or not paths.isdisjoint(self._staged(step.head)):
            return None
        self._copy_index()
        return self._merge(step) if note_files(self._place, paths) else None

    def _obstacle(self, step: Step, done: Done) -> Moved | Blocked:
        now = self._repository.head()
        if now.commit != step.head:
            return Moved(now.commit)
        ours = self._paths(step)
        status = ("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames")
        theirs = sorted(set(changed(self._repository.git(*status, "--ignore-submodules=dirty").fields)))
        above = {folder for path in ours for folder in _folders(path)}
        paths = [path for path in theirs if path in ours | above or not ours.isdisjoint(_folders(path))]
        return _blocked(paths) if paths else Blocked(f"git does not go on: {done.complaint}")

    def _paths(self, step: Step) -> set[str]:
        start = step.head or nothing(self._repository)
        words = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", start, step.commit)
        return set(self._repository.git(*words).fields)

    def _staged(self, head: str) -> set[str]:
        return set(self._repository.git("diff-index", "--cached", "-z", "--name-only", "--no-renames", head).fields)

    @property
    def _place(self) -> Place:
        place = self._repository.place
        ours = (("GIT_INDEX_FILE", str(self._copy)), ("GIT_REFLOG_ACTION", "aot"))
        return replace(place, variables=(*place.variables, *ours))

    def _copy_index(self) -> None:
        for leftover in (self._copy, self._copy.with_name(f"{_COPY}.lock")):
            leftover.unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            shutil.copy2(self._index, self._copy)  # with its time: git looks closely at files that are not older

    def _claimed(self, step: Step, patience: float) -> bool:
        """The file is written elsewhere and then renamed: a lock of ours always says which step is being done."""
        self._draft.write_bytes(b"aot\n" + msgspec.json.encode(step))
        deadline = time.monotonic() + patience
        try:
            while True:
                with contextlib.suppress(FileExistsError):
                    os.link(self._draft, self._claim)
                    return True
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.02)
        except OSError as error:
            raise Unavailable(f"the index cannot be locked: {self._claim}: {error.strerror}") from error
        finally:
            self._draft.unlink()

    def _begun(self) -> Step | None:
        with contextlib.suppress(OSError, msgspec.DecodeError):
            mark, _, content = self._claim.read_bytes().partition(b"\n")
            return msgspec.json.decode(content, type=Step) if mark == b"aot" else None
        return None

    def _release(self) -> None:
        for path in (self._copy, self._claim):
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def landing(repository: Repository, patience: float = PATIENCE) -> Iterator[Landing]:
    """One run at a time; an unfinished step of another run is finished first."""
    path = repository.common_dir / LOCK
    with locked_file(path, patience=patience, what="integrating") as lock:
        lander = Landing(repository, lock)
        lander.finish()
        yield lander


def _inode(path: Path) -> int | None:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_ino
    return None


def _blocked(paths: Sequence[str]) -> Blocked:
    return Blocked(f"uncommitted changes stand in the way: {listed(paths)}", tuple(paths))


def other_branch(before: str | None, now: str | None) -> str:
    return f"{_shown(before)} was checked out, now it is {_shown(now)}"


def _shown(branch: str | None) -> str:
    return "no branch" if branch is None else f"branch {branch.removeprefix('refs/heads/')}"


def _folders(path: str) -> list[str]:
    """The folders on the way to a path."""
    return [str(folder) for folder in PurePosixPath(path).parents][:-1]
