"""Folders that an agent may have written: walked and copied without following a link, however deep they are.

Each folder on the way is opened from the one above it. So a link that appears in the place of a folder, even in the
same moment, is an error and never leads out.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath

from aotloop.foreign_files import begin_in, read_foreign, write_new
from aotloop.process.cancellation import governing_cancellation

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DEEPEST = 200
"""One descriptor is open for each level."""
_DEEPEST_KEPT = 20
_LARGEST = 1 << 30
MOST_COPIED = 4 << 30
"""Bytes. What is larger is linked, not copied."""
_CHUNK = 1 << 20
_ENTRY = 4096
"""What each entry counts, so that their number is bounded, too."""


def walk_foreign(top: str | Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """As `os.walk`: a folder, its folders (those that are taken out are left out), its files, links among them.

    What cannot be read, or has a path that is too long for the system, is left out.
    """
    pending = [os.fspath(top)]
    while pending:
        folder = pending.pop()
        folders: list[str] = []
        files: list[str] = []
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        yield folder, folders, files
        pending += [f"{folder}/{name}" for name in reversed(folders)]


def fingerprint(path: Path) -> str:
    """Of a file or a link: it differs if content, mode or kind differ."""
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            return f"link {os.fsencode(path.readlink()).hex()}"
        return f"{mode & 0o111:o} {sha256(read_foreign(path, _LARGEST)).hexdigest()}"
    except OSError as error:
        return f"cannot be read: {error.errno}"


Identity = tuple[int, int]
"""What a folder is, wherever it lies and whatever its name is."""


def identity_of(folder: str | Path | int) -> Identity:
    found = os.stat(folder)
    return found.st_dev, found.st_ino


@contextmanager
def folder_beneath(top: Path, path: str, *, known: Identity | None = None, makes: bool = False) -> Iterator[int]:
    """A descriptor of the folder `path` below `top`. Raises OSError, also if a link is on the way.

    `known`: what `top` has to be; another folder, or a link to one, may be in its place now. `makes`: what is missing.
    """
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if known is not None and identity_of(descriptor) != known:
            raise OSError(errno.EXDEV, "another folder is in its place", os.fspath(top))
        for part in PurePosixPath(path).parts:
            if makes:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=descriptor)
            inner = os.open(part, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def begin_beneath(root: Path, path: str, most: int) -> bytes | None:
    """At most the first `most` bytes of a file of this folder; a link counts if it leads to one in it. None: no file.

    It is for documents that agents name and write, in a checkout where they can be exchanged at any time.
    """
    with suppress(OSError, ValueError, RuntimeError):  # a path that leads out; links in a ring
        top = root.resolve()
        file = (top / path).resolve().relative_to(top)
        with folder_beneath(top, str(file.parent)) as folder:
            return begin_in(folder, file.name, most)
    return None


def status_beneath(top: Path, path: str) -> os.stat_result:
    """The facts of the file, folder or link itself. Raises OSError, also if a link is on the way."""
    place = PurePosixPath(path)
    with folder_beneath(top, str(place.parent)) as folder:
        return os.stat(place.name, dir_fd=folder, follow_symlinks=False)


def copy_beneath(top: Path, path: str, target: Path, most: int = MOST_COPIED) -> None:
    """Copies a file, a folder or a link; links in it stay links, pipes and devices are left out. Raises OSError.

    `most`: bytes in all, holes included; more is an error, and a part of it may be there. It can be cancelled.
    """
    place = PurePosixPath(path)
    with folder_beneath(top, str(place.parent)) as folder:
        _copy(place.name, folder, target, _DEEPEST, _Allowance(most))


class _Allowance:
    def __init__(self, most: int) -> None:
        self._left = most
        self._cancellation = governing_cancellation()

    def take(self, size: int, target: Path) -> None:
        self._left -= size
        if self._left < 0:
            raise OSError(errno.EFBIG, "too much to copy", os.fspath(target))
        if self._cancellation is not None and self._cancellation.cancelled:
            raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED), os.fspath(target))


def _copy(name: str, folder: int, target: Path, levels: int, allowance: _Allowance) -> None:
    allowance.take(_ENTRY, target)
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISLNK(mode):
        target.symlink_to(os.readlink(name, dir_fd=folder))
    elif stat.S_ISREG(mode):
        _copy_file(name, folder, target, allowance)
    elif stat.S_ISDIR(mode):
        _copy_folder(name, folder, target, levels, allowance)


def _copy_folder(name: str, folder: int, target: Path, levels: int, allowance: _Allowance) -> None:
    if levels == 0:
        raise OSError(errno.ELOOP, "folders are nested too deep", os.fspath(target))
    inner = os.open(name, _FOLDER, dir_fd=folder)
    try:
        target.mkdir()
        for entry in os.listdir(inner):
            _copy(entry, inner, target / entry, levels - 1, allowance)
        target.chmod(stat.S_IMODE(os.fstat(inner).st_mode))
    finally:
        os.close(inner)


def _copy_file(name: str, folder: int, target: Path, allowance: _Allowance) -> None:
    with open(os.open(name, _FILE, dir_fd=folder), "rb") as source:
        facts = os.fstat(source.fileno())
        if not stat.S_ISREG(facts.st_mode):  # it was exchanged meanwhile
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(target))
        allowance.take(facts.st_size, target)
        with target.open("xb") as copy:
            left = facts.st_size  # a file that grows meanwhile is cut
            while chunk := source.read(min(left, _CHUNK)):
                allowance.take(0, target)
                copy.write(chunk)
                left -= len(chunk)
            os.fchmod(copy.fileno(), stat.S_IMODE(facts.st_mode))
    os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def copy_plain_files(source: Path, target: Path, most: int) -> None:
    """Copies the regular files of a folder, up to so many bytes in all; everything else is left out. Raises OSError."""
    for folder, names, files in walk_foreign(source):
        relative = os.path.relpath(folder, source)
        if relative.count(os.sep) >= _DEEPEST_KEPT:
            names.clear()
        there = target / relative
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            with suppress(OSError):
                content = read_foreign(Path(folder, name), most)
                most -= len(content)
                write_new(there / name, content)
