"""The enclosure of one process: what is started in its place, so that the fence holds and nothing gets away.

Behind bubblewrap the kernel ends all processes of the namespace together. Elsewhere the reaper does it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import select
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from aotloop.process.environment import MARKS
from aotloop.process.own_programs import own_path, own_program
from aotloop.process.process_table import has_ended
from aotloop.process.sandbox import bubblewrap, call_filter, srt
from aotloop.process.sandbox.engine import InForce, in_force
from aotloop.process.sandbox.fence import Confinement, is_at_or_in
from aotloop.process.sandbox.fork_server import Command
from aotloop.process.sandbox.permitted_paths import permitted
from aotloop.process.sandbox.reaper_client import Reaper
from aotloop.process.sandbox.resolved_fence import resolved
from aotloop.process.spec import ProcessSpec

_TEMPORARY = "/tmp"  # noqa: S108 - behind the fence it is empty, and of this process alone
_CACHES = {"npm_config_cache": "npm", "GOCACHE": "go-build", "UV_CACHE_DIR": "uv", "PIP_CACHE_DIR": "pip"}
"""Tools that fail if the folder of their downloads is read-only."""


_LONGEST_WORD = 4096
_ROOM_FOR_ONE = 4096
_LONGEST_SET_UP = 10.0
"""Seconds. It needs milliseconds; a file system may hang."""


class Namespace:
    """The process leads a namespace: the kernel ends everything in it together with its first process."""

    is_namespace = True

    def __init__(self, sockets: frozenset[bubblewrap.Socket]) -> None:
        """`sockets`: those that are hidden."""
        self.sockets = sockets
        self.told = os.memfd_create("aot")
        """A file in memory, into which bubblewrap writes the number of the first process."""
        self._ready = -1
        """Our end of a pipe that has room when bubblewrap has read the byte in it."""

    @contextlib.contextmanager
    def its_end(self) -> Iterator[int]:
        """The other end of that pipe. After this context, only bubblewrap has it."""
        theirs, self._ready = os.pipe2(os.O_CLOEXEC | os.O_DIRECT)
        try:
            fcntl.fcntl(self._ready, fcntl.F_SETPIPE_SZ, _ROOM_FOR_ONE)
            os.write(self._ready, b"1")
            yield theirs
        finally:
            os.close(theirs)

    def is_set_up(self) -> bool:
        """Waits until it is known. False: bubblewrap ended before it started the command."""
        poll = select.poll()
        poll.register(self._ready, select.POLLOUT)
        ready = poll.poll(_LONGEST_SET_UP * 1000)
        os.close(self._ready)
        self._ready = -1
        return not ready or bool(ready[0][1] & select.POLLOUT)

    def is_empty(self) -> bool:
        """Whether it is known that no process is left in it: its first process ends after all others."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            first = int(json.loads(os.pread(self.told, _LONGEST_WORD, 0))["child-pid"])
            return has_ended(first)
        return False

    def end(self) -> None:
        """Nothing is left to do."""

    def close(self) -> None:
        for descriptor in (self.told, self._ready):
            if descriptor >= 0:
                os.close(descriptor)
        self.told = self._ready = -1


Guard = Reaper | Namespace
"""Ends everything behind it at once."""


class Enclosure(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    env: Mapping[str, str]
    held: tuple[int, ...] = ()
    """Descriptors that it needs at its start."""
    namespace: Namespace | None = None
    command: Command | None = None
    """What a reaper starts; None: no reaper."""
    is_scoped: bool = False
    """It is started in a thread of its own, without the right to reach abstract sockets outside."""


@contextlib.contextmanager
def enclosed(
    spec: ProcessSpec, env: dict[str, str], lasting: frozenset[bubblewrap.Socket] | None = None
) -> Iterator[Enclosure]:
    """Start the process inside of this context. Raises Unavailable, and OSError if there is no such program.

    `lasting`: only these sockets are hidden; None: all.
    """
    fence = spec.confinement
    force = in_force(fence.policy) if fence is not None else None
    is_ended = spec.mark in MARKS and spec.ending.clears and spec.ending.reach == "tree"
    is_contained = is_ended or (force is not None and force.keeps_out)
    if not is_contained or sys.platform != "linux":
        yield Enclosure(argv=_pinned(spec.argv, env), env=env, is_scoped=spec.scoped)
        return
    program = _program(spec.argv[0], spec.cwd, env)
    if fence is None or force is None or not force.keeps_out:
        argv = _pinned(spec.argv, env)
        yield _reaped(argv[0] if "/" in argv[0] else program, argv, env, spec.held)
        return
    match force.engine:
        case "bwrap":
            env = _private(env, fence)
            yield from _in_namespace(spec, fence, force.program, env, lasting)
        case "srt":
            yield _with_hosts(spec, fence, force, _private(env, fence))
        case _:
            env = _private(env, fence)
            yield _reaped(program, spec.argv, env, spec.held, tuple(permitted(fence, env, spec.cwd)))


def _in_namespace(
    spec: ProcessSpec,
    fence: Confinement,
    program: str,
    env: dict[str, str],
    lasting: frozenset[bubblewrap.Socket] | None,
) -> Iterator[Enclosure]:
    sockets = bubblewrap.all_sockets()
    space = Namespace(sockets if lasting is None else sockets & lasting)
    try:
        with _in_memory(call_filter.program()) as calls, space.its_end() as ready:
            held = {"calls": calls, "told": space.told, "ready": ready}
            argv = bubblewrap.arguments(program, fence, spec.cwd, env, spec.argv, sockets=space.sockets, **held)
            yield Enclosure(argv=argv, env=env, held=tuple(held.values()), namespace=space, is_scoped=True)
    except BaseException:
        space.close()
        raise


def _pinned(argv: tuple[str, ...], env: Mapping[str, str]) -> tuple[str, ...]:
    """Without a fence, a program that an agent put on PATH is not taken, if the same is installed elsewhere."""
    own = own_program(argv[0], env) if "/" not in argv[0] else None
    return (own or argv[0], *argv[1:])


def _with_hosts(spec: ProcessSpec, fence: Confinement, force: InForce, env: dict[str, str]) -> Enclosure:
    import tempfile  # noqa: PLC0415 - the other engines do not need it

    network, place = fence.policy.network, resolved(fence, env, spec.cwd)
    folder = tempfile.mkdtemp(prefix="aot-srt-")  # its settings and sockets: closed to the command
    settings = Path(folder, "settings.json")
    settings.write_text(json.dumps(srt.settings(place, network, env.get("HOME", ""))))
    its_own = srt.environment(env, own_path(env)) | {"TMPDIR": folder}
    argv = (*srt.arguments(force.program, str(settings), place, env, network), *spec.argv)
    return _reaped(argv[0], argv, its_own, spec.held, folder=folder)


def _reaped(
    program: str,
    argv: tuple[str, ...],
    env: Mapping[str, str],
    held: tuple[int, ...],
    rules: tuple[str, ...] | None = None,
    folder: str | None = None,
) -> Enclosure:
    command = Command(program=program, argv=argv, env=env, held=held, rules=rules, folder=folder)
    return Enclosure(argv=argv, env=env, command=command)


@contextlib.contextmanager
def _in_memory(content: bytes) -> Iterator[int]:
    """A file that is read from its start."""
    descriptor = os.memfd_create("aot")
    try:
        os.write(descriptor, content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def _private(env: dict[str, str], fence: Confinement) -> dict[str, str]:
    """Temporary files and downloads go where it may write."""
    usual = os.path.realpath(env.get("TMPDIR") or _TEMPORARY)
    is_open = any(is_at_or_in(usual, os.path.realpath(place)) for place in fence.open)
    temporary = env["TMPDIR"] if is_open and "TMPDIR" in env else _TEMPORARY
    caches = {name: f"{temporary}/aot-cache/{tool}" for name, tool in _CACHES.items()}
    others = {name: value for name, value in env.items() if name not in {"TMP", "TEMP"}}
    return {**caches, **others, "TMPDIR": temporary}


def _program(name: str, cwd: Path | None, env: Mapping[str, str]) -> str:
    """Its full path. Raises OSError as the system would: the engine itself would only print it."""
    folder = cwd if cwd is not None else Path.cwd()
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    found = name if "/" in name else shutil.which(name, path=env.get("PATH", os.defpath))
    if found is None or not (folder / found).exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if not os.access(folder / found, os.X_OK) or (folder / found).is_dir():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    return str(folder / found)
