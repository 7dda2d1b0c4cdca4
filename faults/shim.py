"""Processes whose calls to the system fail where we want it: faults/shim.c, compiled once and loaded before libc."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")
CALLS = ("open", "create", "read", "write", "sync", "rename", "mkdir", "unlink", "truncate")
CHANGING = ("create", "write", "sync", "rename", "mkdir", "unlink", "truncate")
ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EACCES", "EMFILE")
JUMPS = (0, 7200, -7200, 0, 100_000_000, -100_000_000, 3600)
"""Seconds, by which the time of day is off, one after the other."""


@dataclass(frozen=True)
class Fault:
    """What happens to which call; `at` 0: nothing, the calls are only counted."""

    deed: str = "EIO"
    at: int = 0
    calls: tuple[str, ...] = CHANGING
    goes_on: bool = False
    pause: float = 0.0
    """Seconds that each of the calls takes longer."""
    of: str = ""
    """A pattern: only calls on paths that match it count. With several processes at work, this names one call for sure,
    which a number of all their calls does not."""
    since: str = ""
    """A file: calls count as soon as it is there."""

    def __str__(self) -> str:
        since = "from call" if self.goes_on else "at call"
        return f"{self.deed} {since} {self.at} of {'/'.join(self.calls)}" + (f" on {self.of}" if self.of else "")


@lru_cache(maxsize=1)
def why_not() -> str | None:
    """Why this machine cannot do it; None: it can."""
    if not sys.platform.startswith("linux"):
        return "the shim is for Linux"
    if _compiler() is None:
        return "there is no C compiler"
    return None


def _compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def built(folder: Path) -> Path:
    """The library, in this folder."""
    library = folder / "shim.so"
    if not library.exists():
        draft = folder / f"shim.{os.getpid()}.so"
        words = [str(_compiler()), "-O1", "-shared", "-fPIC", "-o", str(draft), str(SOURCE), "-ldl"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{SOURCE} cannot be compiled: {done.stderr}")
        draft.replace(library)
    return library


class Shim:
    """The environment of processes that meet a fault, and how many of their calls could have met it."""

    def __init__(self, library: Path, under: Iterable[Path], count: Path) -> None:
        """`library`: the folder where it is, or will be, compiled; `count`: a file for the number of calls."""
        self._library = built(library)
        self._count = count
        self.told = count.with_name(f"{count.name}.told")
        """A line for each call that was struck, or for each that was counted if none was to be: program, call, path."""
        self._under = ":".join(str(one.resolve()) for one in under)

    def environ(self, fault: Fault) -> dict[str, str]:
        """Counting begins anew."""
        self._count.write_bytes(bytes(8))
        self.told.write_bytes(b"")
        return {
            "LD_PRELOAD": str(self._library),
            "AOT_SHIM_COUNT": str(self._count),
            "AOT_SHIM_UNDER": self._under,
            "AOT_SHIM_CALLS": ",".join(fault.calls),
            "AOT_SHIM_AT": str(fault.at),
            "AOT_SHIM_DO": fault.deed,
            "AOT_SHIM_ON": "1" if fault.goes_on else "0",
            "AOT_SHIM_OF": fault.of,
            "AOT_SHIM_SINCE": fault.since,
            "AOT_SHIM_TOLD": str(self.told),
            "AOT_SHIM_PAUSE": str(int(fault.pause * 1_000_000)),
        }

    @property
    def counted(self) -> int:
        return int.from_bytes(self._count.read_bytes(), sys.byteorder)


def clock_environ(folder: Path, jumps: Iterable[int] = JUMPS) -> dict[str, str]:
    """Each question for the time of day gets another answer."""
    return {"LD_PRELOAD": str(built(folder)), "AOT_SHIM_CLOCK": ",".join(map(str, jumps))}
