"""Bubblewrap as an engine: a process gets a file system of its own, made of ours, and its own process numbers.

Everything is read-only except what is open. Secrets, our own folders, temporary folders and the sockets of services are
not there. The first process of the namespace dies with us, and with it all others. Only this module knows its options.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from aotloop.process.sandbox.fence import Confinement, is_at_or_in
from aotloop.process.sandbox.home_folders import private_entries
from aotloop.process.sandbox.resolved_fence import RealPaths, ResolvedFence, resolved

PROGRAM = "bwrap"

NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent")
_ROOT = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
_EMPTIED = ("/tmp", "/var/tmp", "/run", "/dev/shm")  # noqa: S108 - nothing is made there
"""Folders with sockets and temporary files of all users. Behind the fence they are empty, and in memory."""
_IN_EMPTIED = tuple(f"{folder}/" for folder in _EMPTIED)
_KEPT = ("/run/systemd/resolve", "/run/current-system", "/run/wrappers", "/run/NetworkManager/resolv.conf")
"""Where names of hosts are looked up, and where NixOS has its programs."""
_MOST = str(512 * 1024 * 1024)
"""Bytes in each of the emptied folders. TMPDIR is on the disk."""
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")
_ATOM = "AOT_ATOM_ID"
"""Its value is a text of the repository, and may look like a path."""
_STATE_AND_SETTINGS = "/.claude.json"
_SOCKETS = "/proc/net/unix"

Socket = tuple[bytes, str]
"""Its number in the kernel, and the name that its service gave it."""


def arguments(
    program: str,
    confinement: Confinement,
    cwd: Path | None,
    env: Mapping[str, str],
    argv: tuple[str, ...],
    *,
    calls: int | None = None,
    told: int | None = None,
    ready: int | None = None,
    sockets: Collection[Socket] | None = None,
) -> tuple[str, ...]:
    """The whole command, of which `argv` is the end. Call it directly before the start: it looks at what exists now.

    `calls`: a descriptor from which it reads the filter for system calls. `told`: one into which it writes the number
    of the first process of the namespace. `ready`: one from which it reads a byte when all is as it should be, directly
    before it starts the command. `sockets`: those to hide; None: all of now.
    """
    values = [value for name, value in env.items() if name not in _TEMPORARY]
    texts = [text for text in (*argv, *values) if text != env.get(_ATOM)]
    real = RealPaths()
    fence = resolved(confinement, env, cwd, real)
    return (
        program,
        *_ROOT,
        *("--remount-ro", "/dev"),  # else it holds as many files as half of the memory
        *(("--remount-ro", "/proc") if os.geteuid() == 0 else ()),  # else root could change settings of the kernel
        *(word for folder in _emptied() for word in ("--size", _MOST, "--tmpfs", folder)),
        *_mounts(fence, (*texts, sys.executable, sys.prefix), real, all_sockets() if sockets is None else sockets),
        *_copied_state(fence, env),
        *NAMESPACES,
        "--new-session",
        *rights(),
        *(("--unshare-net",) if confinement.policy.network == "none" else ()),
        *(("--seccomp", str(calls)) if calls is not None else ()),
        *(("--info-fd", str(told)) if told is not None else ()),
        *(("--block-fd", str(ready)) if ready is not None else ()),
        *("--chdir", fence.here),
        "--",
        *argv,
    )


def rights() -> tuple[str, ...]:
    """The root user keeps only what it needs to unpack archives in open folders; others have no rights anyway."""
    if os.geteuid() != 0:
        return ("--unshare-user",)
    return ("--cap-drop", "ALL", "--cap-add", "CAP_CHOWN", "--cap-add", "CAP_FOWNER")


def _emptied() -> list[str]:
    return [folder for folder in _EMPTIED if os.path.isdir(folder) and not os.path.islink(folder)]  # noqa: PTH112, PTH114


def all_sockets() -> frozenset[Socket]:
    """Where services listen now: agents of keys, containers, buses, editors."""
    try:
        lines = Path(_SOCKETS).read_bytes().splitlines()[1:]
    except OSError:
        return frozenset()
    words = (line.split(None, 7) for line in lines)
    return frozenset((parts[6], os.fsdecode(parts[7])) for parts in words if len(parts) > 7 and parts[7][:1] != b"@")


def _mounts(fence: ResolvedFence, texts: Iterable[str], real: RealPaths, sockets: Collection[Socket]) -> Iterator[str]:
    """The shorter paths first: a longer one then changes a part of it."""
    named = list(dict.fromkeys(_named_in(texts, real)))
    # The same path can be in several lists: the later ones decide.
    kinds = {real(path): "--ro-bind" for path in (*_KEPT, *named, *fence.closed)}
    kinds |= dict.fromkeys(fence.hidden, "hide")
    kinds |= dict.fromkeys(fence.open, "--bind")
    kinds |= dict.fromkeys(fence.private, "private")
    kinds |= dict.fromkeys(fence.settings, "--ro-bind")
    seen = (*fence.open, *fence.hidden)  # a socket of another attempt may vanish before it is hidden
    found = _paths_of(sockets, named, real)
    kinds |= {path: "hide" for path in found if not any(is_at_or_in(path, root) for root in seen)}
    kinds = {**_pinned(kinds), **kinds}
    empty: list[str] = []
    for path in sorted(kinds, key=lambda path: path.count("/")):
        if kinds[path] == "private":
            yield from ("--perms", "0700", "--size", _MOST, "--tmpfs", path)
            yield from _links_in(path)
        elif kinds[path] != "hide":
            yield from (kinds[path], path, path) if _is_needed(path, kinds) else ()
        elif os.path.isdir(path):  # noqa: PTH112
            empty.append(path)
            yield from ("--perms", "0500", "--tmpfs", path)
        elif os.path.exists(path):  # noqa: PTH110
            yield from ("--ro-bind", os.devnull, path)
    for path in empty:  # only now: something in it may be open
        yield from ("--remount-ro", path)


def _pinned(kinds: Mapping[str, str]) -> dict[str, str]:
    """Folders between an open place and what is not open in it. As mounts of their own, they cannot be renamed."""
    opened = [path for path, kind in kinds.items() if kind == "--bind"]
    found = {}
    for path, kind in kinds.items():
        around = [place for place in opened if kind != "--bind" and place != path and is_at_or_in(path, place)]
        folder = os.path.dirname(path)  # noqa: PTH120 - a text, as everywhere here
        while around and folder != (place := max(around, key=len)) and is_at_or_in(folder, place):
            if os.path.isdir(folder):  # noqa: PTH112
                found[folder] = "--bind"
            folder = os.path.dirname(folder)  # noqa: PTH120
    return found


def _links_in(folder: str) -> Iterator[str]:
    """A link cannot be closed where it is: it could be exchanged. So a private folder has a link of its own."""
    for path in private_entries(folder):
        if os.path.islink(path):  # noqa: PTH114 - a text, as everywhere here
            yield from ("--symlink", os.readlink(path), path)  # noqa: PTH115


def _copied_state(fence: ResolvedFence, env: Mapping[str, str]) -> Iterator[str]:
    """A client that cannot write its state file waits for it again and again. So it gets a copy, which ends with it."""
    temporary = os.path.realpath(env.get("TMPDIR", ""))
    if not any(is_at_or_in(temporary, folder) for folder in fence.open):
        return
    for path in fence.settings:
        if path.endswith(_STATE_AND_SETTINGS) and os.path.isfile(path):  # noqa: PTH113 - a text, as everywhere here
            import shutil  # noqa: PLC0415 - only for this client
            import tempfile  # noqa: PLC0415

            descriptor, copy = tempfile.mkstemp(dir=temporary)
            with open(path, "rb") as source, open(descriptor, "wb") as target:  # noqa: PTH123
                shutil.copyfileobj(source, target)
            yield from ("--bind", copy, path)


def _is_needed(path: str, kinds: Mapping[str, str]) -> bool:
    """What is read-only is so already, unless it lies in something that is open, emptied or hidden."""
    if path == "/":
        return False
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a text, as everywhere here
    except OSError:
        return False
    if kinds[path] == "--bind":
        return True
    if stat.S_ISSOCK(mode):
        return False
    return path.startswith(_IN_EMPTIED) or any(kinds.get(above, "--ro-bind") != "--ro-bind" for above in _above(path))


def _above(path: str) -> Iterator[str]:
    """All folders in which it lies."""
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path


def _named_in(texts: Iterable[str], real: RealPaths) -> Iterator[str]:
    """What lies in an emptied folder and is named by the environment or the command: a home, a program, a state file.

    A program needs the files around it, so the whole entry of the emptied folder is there, read-only. Only a list of
    absolute paths names any: a prompt has words of the repository, which open nothing.
    """
    for text in texts:
        parts = text.split(":")
        for part in parts if "\n" not in text and all(part[:1] in ("", "/") for part in parts) and parts[0] else ():
            for path in {os.path.normpath(part), real(part)} if part.startswith("/") else ():
                if path.startswith(_IN_EMPTIED):
                    folder = next(folder for folder in _IN_EMPTIED if path.startswith(folder))
                    yield f"{folder}{path.removeprefix(folder).partition('/')[0]}"


def _paths_of(sockets: Iterable[Socket], named: Iterable[str], real: RealPaths) -> Iterator[str]:
    """`named`: what is there of emptied folders."""
    for path in _placed(dict.fromkeys(name for _, name in sockets)):
        is_gone = path.startswith(_IN_EMPTIED)
        if not is_gone or any(is_at_or_in(path, root) for root in named):
            yield real(path)


def _placed(names: Iterable[str]) -> Iterator[str]:
    """A name without a folder was given in the folder of its service."""
    relative = [name for name in names if not name.startswith("/")]
    yield from (name for name in names if name.startswith("/"))
    folders = set()
    for pid in os.listdir("/proc") if relative else ():  # noqa: PTH208 - names are enough
        with suppress(OSError):
            folders.add(os.readlink(f"/proc/{pid}/cwd"))  # noqa: PTH115 - as everywhere here
    for path in (f"{folder}/{name}" for folder in folders for name in relative):
        with suppress(OSError):
            if stat.S_ISSOCK(os.stat(path).st_mode):  # noqa: PTH116
                yield path
