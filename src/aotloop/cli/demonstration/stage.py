"""Where a demonstration takes place: a folder with all it needs, a home included, that is removed when all went well.

What went wrong is left there to be looked at; what was interrupted is not.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from aotloop.cli.output import tell
from aotloop.errors import Unavailable

INTERRUPTIONS = (KeyboardInterrupt, SystemExit, GeneratorExit, BrokenPipeError)


class Stage(msgspec.Struct, frozen=True):
    folder: Path
    is_kept: bool

    @property
    def project(self) -> Path:
        return self.folder / "pancakes"

    @property
    def home(self) -> Path:
        """In place of the user's: trust, agreements and worktrees of a demonstration are no business of theirs."""
        return self.folder / "home"

    @property
    def programs(self) -> Path:
        return self.folder / "bin"


@contextmanager
def stage(folder: Path | None, *, keep: bool) -> Iterator[Stage]:
    """In a temporary folder, unless one is given, which is then kept in any case."""
    one = Stage(_new(folder), is_kept=keep or folder is not None)
    try:
        yield one
    except INTERRUPTIONS:
        _clear(one)
        raise
    except Exception:
        tell(f"Everything is left as it was in {one.folder}", err=True)
        raise
    _clear(one)


def _new(folder: Path | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="aot-demo-")).resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = next(folder.iterdir(), None) is None
    except OSError as error:
        raise Unavailable(f"{folder}: {error.strerror}", hint="Name a folder that can be made.") from error
    if not is_empty:
        raise Unavailable(f"{folder} is not empty", hint="Name a folder that is empty, or that does not exist yet.")
    return folder.resolve()


def _clear(one: Stage) -> None:
    if not one.is_kept:
        shutil.rmtree(one.folder, ignore_errors=True)
