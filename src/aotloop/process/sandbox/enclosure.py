"""The enclosure of one process: what is started in its place, so that the fence holds and nothing gets away.

Behind bubblewrap the kernel ends all processes of the namespace together. Elsewhere the reaper does it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from io import FileIO
from pathlib import Path

import msgspec

from aotloop.process.environment import MARKS, REAPER_MARK
from aotloop.process.own_programs import own_path, own_program
from aotloop.process.sandbox import bubblewrap, srt
from aotloop.process.sandbox.engine import InForce, in_force
from aotloop.process.sandbox.fence import Confinement, is_at_or_in
from aotloop.process.sandbox.home_folders import prepare_state
from aotloop.process.sandbox.permitted_paths import permitted
from aotloop.process.spec import ProcessSpec

_TEMPORARY = "/tmp"  # noqa: S108 - behind the fence it is empty, and of this process alone
_LONGEST_WORD = 32
_REAPER = Path(__file__).with_name("reaper.py")
_CACHES = {"npm_config_cache": "npm", "GOCACHE": "go-build", "UV_CACHE_DIR": "uv", "PIP_CACHE_DIR": "pip"}
"""Tools that fail if the folder of their downloads is read-only."""


class Guard:
    """Ends everything behind it at once. A reaper also tells how the process has ended."""

    def __init__(self, control: FileIO | None = None, told: FileIO | None = None) -> None:
        """`control`, `told`: the pipes to the reaper and from it; None: the process leads a namespace."""
        self._control = control
        self.told = told

    @property
    def is_namespace(self) -> bool:
        """Whether the kernel ends all processes with the first one of the namespace."""
        return self._control is None

    def hear(self) -> tuple[int | None, bool] | None:
        """The status of the process, and whether others are left; None: it runs. Without a status the reaper died."""
        if self.told is None or self.told.closed:
            return None
        words = self.told.read(_LONGEST_WORD)
        if words is None:
            return None
        status, _, left = words.decode().partition(" ")
        return (int(status), left.strip() == "1") if status else (None, False)

    def end(self) -> None:
        """The reaper kills all its processes, and then ends."""
        if self._control is not None:
            self._control.close()

    def close(self) -> None:
        self.end()
        if self.told is not None:
            self.told.close()


class Enclosure(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    env: Mapping[str, str]
    held: tuple[int, ...] = ()
    """Descriptors that it needs at its start."""
    guard: Guard | None = None
    is_scoped: bool = False
    """It is started in a thread of its own, without the right to reach abstract sockets outside."""


@contextlib.contextmanager
def enclosed(spec: ProcessSpec, env: dict[str, str]) -> Iterator[Enclosure]:
    """Start the process inside of this context. Raises Unavailable, and OSError if there is no such program."""
    fence = spec.confinement
    force = in_force(fence.policy) if fence is not None else None
    is_ended = spec.mark in MARKS and spec.ending.clears and spec.ending.reach == "tree"
    is_contained = is_ended or (force is not None and force.keeps_out)
    if not is_contained or sys.platform != "linux":
        yield Enclosure(argv=_pinned(spec.argv, env), env=env, is_scoped=spec.scoped)
        return
    _refuse_missing(spec.argv[0], spec.cwd, env)
    if fence is None or force is None or not force.keeps_out:
        with _reaped(_pinned(spec.argv, env), env) as enclosure:
            yield enclosure
        return
    match force.engine:
        case "bwrap":
            env = _private(env, fence)
            argv = bubblewrap.arguments(force.program, fence, spec.cwd, env, spec.argv)
            yield Enclosure(argv=argv, env=env, guard=Guard(), is_scoped=True)
        case "srt":
            with _with_hosts(spec, fence, force, _private(env, fence)) as enclosure:
                yield enclosure
        case _:
            prepare_state(fence.client, env)
            env = _private(env, fence)
            with _reaped(spec.argv, env, permitted(fence, env, spec.cwd)) as enclosure:
                yield enclosure


def _pinned(argv: tuple[str, ...], env: Mapping[str, str]) -> tuple[str, ...]:
    """Without a fence, a program that an agent put on PATH is not taken, if the same is installed elsewhere."""
    own = own_program(argv[0], env) if "/" not in argv[0] else None
    return (own or argv[0], *argv[1:])


@contextlib.contextmanager
def _with_hosts(spec: ProcessSpec, fence: Confinement, force: InForce, env: dict[str, str]) -> Iterator[Enclosure]:
    with _in_memory([json.dumps(srt.settings(fence, env))]) as descriptor:
        argv = (*srt.arguments(force.program, f"/dev/fd/{descriptor}", env.get("PATH")), *spec.argv)
        with _reaped(argv, {**env, "PATH": own_path(env)}) as enclosure:
            yield msgspec.structs.replace(enclosure, held=(*enclosure.held, descriptor))


@contextlib.contextmanager
def _reaped(argv: tuple[str, ...], env: Mapping[str, str], rules: Iterator[str] | None = None) -> Iterator[Enclosure]:
    """`rules`: the only paths that may be changed; None: all paths."""
    with contextlib.ExitStack() as stack:
        (asked, asking), (heard, telling) = os.pipe(), os.pipe()
        stack.callback(os.close, asked)
        stack.callback(os.close, telling)
        os.set_blocking(heard, False)
        guard = Guard(FileIO(asking, "w"), FileIO(heard, "r"))
        held = [asked, telling, stack.enter_context(_in_memory(f"{name}={value}" for name, value in env.items()))]
        if rules is not None:
            held.append(stack.enter_context(_in_memory(rules)))
        numbers = (*map(str, held), *(() if rules is not None else ("-1",)))
        argv = (sys.executable, "-E", "-s", "-S", str(_REAPER), *numbers, "--", *argv)
        try:
            yield Enclosure(argv=argv, env=_of_reaper(env), held=tuple(held), guard=guard)
        except BaseException:
            guard.close()
            raise


def _of_reaper(env: Mapping[str, str]) -> dict[str, str]:
    """It is not one of the attempt's processes, and does not have their marks."""
    libraries = {name: value for name, value in os.environ.items() if name.startswith("LD_")}
    return {**libraries, REAPER_MARK: env.get("AOT_RUN_ID", "")}


@contextlib.contextmanager
def _in_memory(parts: Iterable[str]) -> Iterator[int]:
    descriptor = os.memfd_create("aot")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(b"\0".join(os.fsencode(part) for part in parts))
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


def _refuse_missing(program: str, cwd: Path | None, env: Mapping[str, str]) -> None:
    """As the system would: the engine itself would only print that there is no such program."""
    folder = cwd if cwd is not None else Path.cwd()
    if not folder.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
    if "/" not in program:
        if shutil.which(program, path=env.get("PATH", os.defpath)) is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
        return
    if not (folder / program).exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), program)
    if not os.access(folder / program, os.X_OK) or (folder / program).is_dir():
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), program)
