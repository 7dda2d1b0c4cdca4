"""The inventory of a checkout: git's settings as they are, and a fingerprint of HEAD, refs, index and tracked files.

Commands of a base case run in the checkout, and behind some fences they can write to git. Two inventories show what
they changed. Settings can make git run programs, so they are read as plain files, and before any git is started.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from aotloop.deletion import remove_tree
from aotloop.errors import AotError
from aotloop.foreign_files import read_plain
from aotloop.git.repository import Repository, is_at_or_in

Settings = dict[str, tuple[int, bytes]]
"""By path in git's folder: modes and contents; of a link, its target."""
Facts = dict[str, str]
"""What it is about → its fingerprint."""

_NAMES = ("config", "config.worktree", "hooks", "info", "commondir", "gitdir", "shallow", "objects/info/alternates")
_OF_MODULES = ("config", "config.worktree", "hooks", "info", "commondir", "gitdir")
_MODULES = "modules"
_READ_FIRST = ("HEAD", "index", "packed-refs")
_MOST_ENTRIES = 5_000
_MOST_IGNORED = 20_000
_MOST_BYTES = 20_000_000
_LOGS = ("logs/HEAD", "logs/refs/stash")
_OWN_REFS = "refs/aot/"
_AS_ON_DISK = ("-c", "core.trustctime=true", "-c", "core.checkStat=default")
_NOT_CHECKED_OUT = "S"


# --- settings ----------------------------------------------------------------------------------------------------


def settings_of(repository: Repository, *, included_only: bool = False) -> Settings:
    """Starts no git. `included_only`: the files in the checkout that settings include."""
    found = {str(file): entry for file in repository.included if (entry := _entry(file)) is not None}
    if included_only:
        return found
    for folder in dict.fromkeys((repository.common_dir, repository.git_dir)):
        for path in [folder / name for name in _NAMES] + list(_of_modules(folder / _MODULES)):
            for file in _files(path):
                if (entry := _entry(file)) is not None:
                    found[str(file)] = entry
    if (entry := _entry(repository.top / ".git")) is not None:
        found[str(repository.top / ".git")] = entry
    return found


def read_first(repository: Repository) -> Settings:
    """What every git reads first, and refs. Starts no git."""
    found = {}
    for file in _read_first(repository):
        with suppress(OSError):
            if stat.S_ISREG((seen := file.lstat()).st_mode) and seen.st_size <= _MOST_BYTES:
                found[str(file)] = (seen.st_mode, read_plain(file, _MOST_BYTES))
    return found


def blocked_files(repository: Repository) -> list[str]:
    """Pipes, devices, folders and huge files where git reads: it would wait or read for ever. Starts no git."""
    blocked = []
    for file in _read_first(repository):
        with suppress(OSError):
            seen = file.lstat()
            is_file = stat.S_ISREG(seen.st_mode) or (stat.S_ISLNK(seen.st_mode) and file.name not in _READ_FIRST)
            is_huge = seen.st_size > _MOST_BYTES and file.name not in {"index", "packed-refs"}
            blocked += [] if is_file and not is_huge else [str(file)]
    return blocked


def _read_first(repository: Repository) -> Iterator[Path]:
    yield from (repository.git_dir / name for name in _READ_FIRST)
    yield repository.git_dir / _LOGS[0]
    for folder in dict.fromkeys((repository.common_dir, repository.git_dir)):
        yield from _files(folder / "refs")


def _of_modules(folder: Path) -> Iterator[Path]:
    """The settings of submodules; a name may have several parts."""
    pending, count = [folder], 0
    while pending and count < _MOST_ENTRIES:
        place = pending.pop()
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                count += 1
                if entry.name in _OF_MODULES:
                    yield Path(entry.path)
                elif entry.name not in {"objects", "refs", "logs", "lfs"} and entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))


def _files(path: Path) -> Iterator[Path]:
    """The path itself, or all files below; a link is not followed."""
    pending, count = [path], 0
    while pending and count < _MOST_ENTRIES:
        place = pending.pop()
        count += 1
        if place.is_symlink() or not place.is_dir():
            yield place
            continue
        with suppress(OSError), os.scandir(place) as entries:
            pending += [Path(entry.path) for entry in entries]


def _entry(path: Path) -> tuple[int, bytes] | None:
    try:
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            return found.st_mode, os.fsencode(os.readlink(path))  # noqa: PTH115 - its exact text
    except OSError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return found.st_mode, b""
    return found.st_mode, read_plain(path, _MOST_BYTES)


def differing(before: Settings, now: Settings) -> list[str]:
    return sorted(path for path in {*before, *now} if before.get(path) != now.get(path))


def put_settings_back(before: Settings, paths: Iterable[str], kept: Path) -> list[str]:
    """Restores these settings; what stood there is kept. Returns those that could not be restored."""
    left = []
    for path in paths:
        file = Path(path)
        try:
            _keep(file, kept)
            _restore(file, before.get(path))
        except OSError:
            left.append(path)
    return left


def _keep(file: Path, kept: Path) -> None:
    if (entry := _entry(file)) is not None and not stat.S_ISDIR(entry[0]):
        kept.mkdir(parents=True, exist_ok=True)
        (kept / str(file).replace("/", "%")[-200:]).write_bytes(entry[1])


def _restore(file: Path, entry: tuple[int, bytes] | None) -> None:
    if entry is not None and stat.S_ISDIR(entry[0]):
        return
    beside = file.with_name(f".{file.name[:100]}.aot-{os.getpid()}")
    if entry is None:
        remove_tree(file)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    remove_tree(beside)
    if stat.S_ISLNK(entry[0]):
        beside.symlink_to(os.fsdecode(entry[1]))
    else:
        beside.write_bytes(entry[1])
        beside.chmod(stat.S_IMODE(entry[0]))
    if file.is_dir() and not file.is_symlink():
        remove_tree(file)
    beside.replace(file)


# --- facts -------------------------------------------------------------------------------------------------------


def local_settings(repository: Repository, settings: Settings) -> bytes:
    """As git understands them, if they include other files; else empty. Nothing is run."""
    if not any(b"include" in content.lower() for path, (_, content) in settings.items() if "config" in path):
        return b""
    with suppress(AotError):
        return repository.git("config", "--local", "--list", "--includes", "-z", accept=()).out
    return b""


def head_facts(repository: Repository) -> Facts:
    """HEAD, and whether it was elsewhere in between."""
    head = repository.head()
    log = read_plain(repository.git_dir / _LOGS[0], _MOST_BYTES)
    return {"HEAD": f"{head.branch} {head.commit}", "HEAD (moved meanwhile)": _digest(log)}


def ref_facts(repository: Repository) -> Facts:
    """Refs without our own, and stashes."""
    found: Facts = {}
    for line in repository.git("for-each-ref", "--format=%(refname)%00%(objectname) %(symref)").out.splitlines():
        name, _, target = os.fsdecode(line).partition("\0")
        if not name.startswith(_OWN_REFS):
            found[name] = target
    found["stashes"] = _digest(read_plain(repository.common_dir / _LOGS[1], _MOST_BYTES))
    return found


def ignored_facts(repository: Repository, without: Iterable[str]) -> Facts:
    """Stamps of ignored files, the first of them if there are very many. `without`: paths of ours."""
    ours, found = tuple(without), {}
    words = ("ls-files", "--others", "--ignored", "--exclude-standard", "-z")
    for path in repository.git(*words).fields[:_MOST_IGNORED]:
        if not any(is_at_or_in(path, place) for place in ours):
            with suppress(OSError):
                seen = (repository.top / path).lstat()
                found[path] = f"{seen.st_ino} {seen.st_mode} {seen.st_size} {seen.st_mtime_ns} {seen.st_ctime_ns}"
    return found


def index_facts(repository: Repository) -> Facts:
    """The entries of the index, and the files that git is told not to look at."""
    found: Facts = {}
    for entry in repository.git("ls-files", "--stage", "-v", "-z").fields:
        facts, _, path = entry.partition("\t")
        found[f"{path} (index)"] = found.get(f"{path} (index)", "") + facts
        if facts[:1].islower() or facts[:1] == _NOT_CHECKED_OUT:  # git is told not to look at it
            found[path] = _fingerprint(repository.top / path)
    return found


def tracked_facts(repository: Repository) -> Facts:
    """Tracked files that differ from HEAD. All others are as in HEAD."""
    words = ("status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=dirty", "--no-renames")
    found: Facts = {}
    for entry in repository.git(*_AS_ON_DISK, *words).fields:
        parts = entry.split(" ", 10 if entry.startswith("u") else 8)
        found[parts[-1]] = f"{' '.join(parts[:-1])} {_fingerprint(repository.top / parts[-1])}"
    return found


def _fingerprint(path: Path) -> str:
    entry = _entry(path)
    return f"{entry[0]} {_digest(entry[1])}" if entry is not None else ""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
