"""Whether this process is below a run, a check or a session: its own variables, and those of its ancestors, say so.

A process can clear its own variables, but not those with which its ancestors were started. A daemon loses its
ancestors, and becomes a child of the reaper or of the run that started it. Both are known: the reaper by its variable,
the run by its command line. Where the system does not tell, the fence decides.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import dropwhile
from pathlib import Path

from aotloop.process.environment import MARKS, REAPER_MARK

OF_A_RUN = ("AOT_RUN_ID", REAPER_MARK, *MARKS)
"""A daemon that an attempt or a check left behind is a child of its reaper, or of the run itself."""
OF_A_CLIENT = ("CLAUDECODE", "CODEX_THREAD_ID", "CODEX_SANDBOX", "OPENCODE")
"""Variables that clients give to the commands of a session."""

_MOST = 1000
_FOR_A_PERSON = (b"demo", b"dev-cluster")


def is_below_a_run(surroundings: Mapping[str, str] | None = None) -> bool:
    return _is_below(OF_A_RUN, os.environ if surroundings is None else surroundings)


def is_below_a_client(surroundings: Mapping[str, str] | None = None) -> bool:
    return _is_below(OF_A_CLIENT, os.environ if surroundings is None else surroundings)


def _is_below(names: tuple[str, ...], surroundings: Mapping[str, str]) -> bool:
    if any(surroundings.get(name) for name in names):
        return True
    wanted = tuple(f"{name}=".encode() for name in names)
    return any(_has(pid, wanted) or (names is OF_A_RUN and _runs_commands(pid)) for pid in _ancestors())


def _runs_commands(pid: int) -> bool:
    """Whether it is a Python that runs `aot`, but for commands that start others in a person's stead."""
    with suppress(OSError):
        program, *words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        script, *given = [*dropwhile(lambda word: word.startswith(b"-"), words), b""]
        is_aot = script.rpartition(b"/")[2] in (b"aot", b"aotloop")
        return is_aot and program.rpartition(b"/")[2].startswith(b"python") and given[0] not in _FOR_A_PERSON
    return False


def _ancestors() -> Iterator[int]:
    """Nearest first; none where the system does not tell."""
    pid = os.getppid()
    for _ in range(_MOST):
        if pid <= 1:
            return
        yield pid
        pid = _parent(pid)


def _parent(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    return 0


def _has(pid: int, wanted: tuple[bytes, ...]) -> bool:
    with suppress(OSError):
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return any(variable.startswith(wanted) and not variable.endswith(b"=") for variable in variables)
    return False
