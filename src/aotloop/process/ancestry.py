"""Whether this process is below a run, a check or a session: its own variables, and those of its ancestors, say so.

A process can clear its own variables, but not those with which its ancestors were started. A daemon has lost its
ancestors: there the fence decides, which closes the person's data folder to all that runs behind it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from aotloop.process.environment import MARKS

OF_A_RUN = ("AOT_RUN_ID", *MARKS)
OF_A_CLIENT = ("CLAUDECODE", "CODEX_THREAD_ID", "CODEX_SANDBOX", "OPENCODE")
"""Variables that clients give to the commands of a session."""

_MOST = 1000


def is_below_a_run(surroundings: Mapping[str, str] | None = None) -> bool:
    return _is_below(OF_A_RUN, os.environ if surroundings is None else surroundings)


def is_below_a_client(surroundings: Mapping[str, str] | None = None) -> bool:
    return _is_below(OF_A_CLIENT, os.environ if surroundings is None else surroundings)


def _is_below(names: tuple[str, ...], surroundings: Mapping[str, str]) -> bool:
    if any(surroundings.get(name) for name in names):
        return True
    wanted = tuple(f"{name}=".encode() for name in names)
    return any(_has(pid, wanted) for pid in _ancestors())


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
