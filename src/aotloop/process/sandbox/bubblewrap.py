"""Bubblewrap as an engine: a process gets a file system of its own, made of ours, and its own process numbers.

Everything is read-only except what is open. Secrets, our own folders, temporary folders and the sockets of services are
not there. The first process of the namespace dies with us, and with it all others. Only this module knows its options.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path

from aotloop.process.sandbox.fence import Confinement, is_at_or_in
from aotloop.process.sandbox.home_folders import ours, prepare_state, secrets, state_of

PROGRAM = "bwrap"

NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent")
_ROOT = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
_EMPTIED = ("/tmp", "/var/tmp", "/run", "/dev/shm")  # noqa: S108 - nothing is made there
"""Folders with sockets and temporary files of all users. Behind the fence they are empty, and in memory."""
_KEPT = ("/run/systemd/resolve", "/run/current-system", "/run/wrappers", "/run/NetworkManager/resolv.conf")
"""Where names of hosts are looked up, and where NixOS has its programs."""
_MOST = str(512 * 1024 * 1024)
"""Bytes in each of the emptied folders. TMPDIR is on the disk."""
_TEMPORARY = ("TMPDIR", "TMP", "TEMP")
_SOCKETS = "/proc/net/unix"
_WRITE = 0o222


def arguments(
    program: str, confinement: Confinement, cwd: Path | None, env: Mapping[str, str], argv: tuple[str, ...]
) -> tuple[str, ...]:
    """The whole command, of which `argv` is the end. Call it directly before the start: it looks at what exists now."""
    prepare_state(confinement.client, env)
    values = [value for name, value in env.items() if name not in _TEMPORARY]
    here = os.path.realpath(cwd if cwd is not None else Path.cwd())
    return (
        program,
        *_ROOT,
        *(word for path in _of_the_kernel() for word in ("--ro-bind", path, path)),
        *(word for folder in _emptied() for word in ("--size", _MOST, "--tmpfs", folder)),
        *_mounts(confinement, here, env, (*argv, *values, sys.executable, sys.prefix)),
        *NAMESPACES,
        "--new-session",
        *rights(),
        *(("--unshare-net",) if confinement.policy.network == "none" else ()),
        *("--chdir", here),
        "--",
        *argv,
    )


def rights() -> tuple[str, ...]:
    """The root user keeps only what it needs to unpack archives in open folders; others have no rights anyway."""
    if os.geteuid() != 0:
        return ("--unshare-user",)
    return ("--cap-drop", "ALL", "--cap-add", "CAP_CHOWN", "--cap-add", "CAP_FOWNER")


@cache
def _of_the_kernel() -> tuple[str, ...]:
    """What the root user could change for the whole machine, though without rights: its files in /proc belong to root.

    Folders of processes are of the namespace. Links (`net`, `mounts`) lead into them.
    """
    if os.geteuid() != 0:
        return ()
    with os.scandir("/proc") as entries:
        found = [one for one in entries if not one.name.isdigit() and not one.is_symlink()]
        return tuple(one.path for one in found if one.is_dir() or one.stat().st_mode & _WRITE)


def _emptied() -> list[str]:
    return [folder for folder in _EMPTIED if os.path.isdir(folder) and not os.path.islink(folder)]  # noqa: PTH112, PTH114


def _mounts(confinement: Confinement, here: str, env: Mapping[str, str], texts: Iterable[str]) -> Iterator[str]:
    """The shorter paths first: a longer one then changes a part of it."""
    named = list(dict.fromkeys(_named_in(texts)))
    seen = dict.fromkeys([*_KEPT, *named], "--ro-bind")
    # The same path can be in several lists: the later ones decide.
    seen |= dict.fromkeys([here, *map(os.fspath, confinement.closed)], "--ro-bind")
    writable = [os.path.expanduser(path) for path in confinement.policy.writable]  # noqa: PTH111 - never raises
    open_ = [*map(os.fspath, confinement.open), *state_of(confinement.client, env), *writable]
    closed = [os.path.realpath(path) for path in confinement.closed]
    if not any(is_at_or_in(here, path) for path in closed):  # it works there
        open_.append(here)
    hidden = [path for path in (*secrets(env, confinement.client), *ours(env)) if path not in writable]
    kinds = {os.path.realpath(path): kind for path, kind in seen.items()}
    kinds |= dict.fromkeys(hidden, "hide")
    kinds |= {os.path.realpath(path): "--bind" for path in open_}
    real = [os.path.realpath(path) for path in open_]
    kinds |= {path: "hide" for path in _sockets(named) if not any(is_at_or_in(path, one) for one in real)}
    empty: list[str] = []
    for path in sorted(kinds, key=lambda path: path.count("/")):
        if kinds[path] != "hide":
            yield from (kinds[path], path, path) if _is_needed(path, kinds) else ()
        elif os.path.isdir(path):  # noqa: PTH112
            empty.append(path)
            yield from ("--perms", "0500", "--tmpfs", path)
        elif os.path.exists(path):  # noqa: PTH110
            yield from ("--ro-bind", os.devnull, path)
    for path in empty:  # only now: something in it may be open
        yield from ("--remount-ro", path)


def _is_needed(path: str, kinds: Mapping[str, str]) -> bool:
    """What is read-only is so already, unless it lies in something that is open, emptied or hidden."""
    if path == "/" or not os.path.exists(path):  # noqa: PTH110 - a text, as everywhere here
        return False
    if kinds[path] == "--bind":
        return True
    if stat.S_ISSOCK(os.stat(path).st_mode):  # noqa: PTH116
        return False
    return any(is_at_or_in(path, folder) for folder in _EMPTIED if path != folder) or any(
        kinds[other] != "--ro-bind" and other != path and is_at_or_in(path, other) for other in kinds
    )


def _named_in(texts: Iterable[str]) -> Iterator[str]:
    """What lies in an emptied folder and is named by the environment or the command: a home, a program, a state file.

    A program needs the files around it, so the whole entry of the emptied folder is there, read-only.
    """
    for text in texts:
        for part in text.split(":"):
            found = {os.path.normpath(part), os.path.realpath(part)} if part.startswith("/") else ()
            for path, folder in product(found, _EMPTIED):
                if path != folder and is_at_or_in(path, folder):
                    yield f"{folder}/{path.removeprefix(folder).split('/')[1]}"


def _sockets(named: Iterable[str]) -> Iterator[str]:
    """`named`: what is there of emptied folders.

    Services that listen now on a socket with a path: agents of keys, containers, buses, editors.
    """
    try:
        lines = Path(_SOCKETS).read_bytes().splitlines()[1:]
    except OSError:
        return
    for line in lines:
        words = line.split(None, 7)
        path = os.fsdecode(words[7]) if len(words) > 7 else ""
        is_gone = any(is_at_or_in(path, folder) for folder in _EMPTIED)
        if path.startswith("/") and (not is_gone or any(is_at_or_in(path, one) for one in named)):
            yield os.path.realpath(path)
