"""The files of an attempt, as a model may use them: only this module opens a path that a model wrote.

Every part of a path is opened without following links, from the folder of the attempt downwards. So no path leads out
of it, whatever a repository or an earlier command has put there. Only regular files of bounded size are read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from aotloop.foreign_tree import walk_foreign
from aotloop.text.sanitize import visible
from aotloop.text.shorten import PHRASE, shorten

MOST_BYTES = 400_000
"""Of one file, to be read or to be written."""
MOST_ENTRIES = 300
MOST_HITS = 60
_MOST_FILES = 4000
_LONGEST_PATH = 500
_LONGEST_HIT = 200
_CLOSED = (".git", ".aot")
_STATE = ".claude/aot-loop-state.md"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Refused(ValueError):  # noqa: N818 - reads as a sentence where it is caught
    """Why something was not done, in words for the model."""


class Workspace:
    def __init__(self, root: Path) -> None:
        self._root = root
        self.changed: dict[str, None] = {}
        """Paths that were written, each once."""

    def listed(self, path: str = ".") -> str:
        parts = _parts(path)
        with self._folder(parts) as folder:
            names = sorted(_entry_names(folder))
        names = [name for name in names if parts or name not in _CLOSED]
        more = [f"and {len(names) - MOST_ENTRIES} more"] if len(names) > MOST_ENTRIES else []
        return "\n".join([*map(visible, names[:MOST_ENTRIES]), *more]) or "(empty)"

    def read(self, path: str) -> str:
        parts = _parts(path)
        if not parts:
            raise Refused("a folder cannot be read; list it")
        with self._folder(parts[:-1]) as folder:
            content = _content(folder, parts[-1])
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise Refused(f"{shown(path)} is not text") from None

    def write(self, path: str, text: str) -> str:
        """Folders are made as needed. A file that exists is replaced, never written through."""
        parts = _parts(path)
        name = "/".join(parts)
        if not parts or parts[0].casefold() in _CLOSED or name == _STATE or ".git" in map(str.casefold, parts):
            raise Refused(f"{shown(path)} may not be changed")
        content = self._with_its_line_ends(path, text).encode("utf-8", "replace")
        if len(content) > MOST_BYTES:
            raise Refused(f"{shown(path)} would have {len(content)} bytes, and at most {MOST_BYTES} are allowed")
        with self._folder(parts[:-1], is_made=True) as folder:
            _replace(folder, parts[-1], content)
        self.changed[name] = None
        return f"{shown(name)} has {len(text.splitlines())} lines now"

    def patch(self, path: str, old: str, new: str) -> str:
        """Replaces a text that is in the file exactly once."""
        text = self.read(path)
        if _has_crlf(text):
            text, old, new = (part.replace("\r\n", "\n") for part in (text, old, new))
        count = text.count(old) if old else 0
        if count != 1:
            raise Refused(f"`old` must be in {shown(path)} exactly once, and is there {count} times")
        return self.write(path, text.replace(old, new))

    def search(self, words: str) -> str:
        """Lines with exactly these words: a pattern of a model could take for ever."""
        if not words.strip():
            raise Refused("there is nothing to search for")
        hits = []
        for path in self._files():
            with contextlib.suppress(Refused, OSError):
                lines = enumerate(self.read(path).splitlines(), 1)
                hits += [f"{visible(path)}:{number}: {line[:_LONGEST_HIT]}" for number, line in lines if words in line]
            if len(hits) > MOST_HITS:
                return "\n".join([*hits[:MOST_HITS], "and more"])
        return "\n".join(hits) or "no line has these words"

    def has(self, path: str) -> bool:
        try:
            self.read(path)
        except (Refused, OSError):
            return False
        return True

    def _with_its_line_ends(self, path: str, text: str) -> str:
        """Models write LF. A file with CRLF keeps it, or each of its lines would differ."""
        if "\r" not in text and self.has(path) and _has_crlf(self.read(path)):
            return text.replace("\n", "\r\n")
        return text

    def _files(self) -> Iterator[str]:
        left = [_MOST_FILES]
        for folder, folders, names in walk_foreign(self._root):
            folders[:] = sorted(name for name in folders if name not in _CLOSED)
            for name in sorted(names):
                left[0] -= 1
                if left[0] < 0:
                    return
                yield os.path.relpath(os.path.join(folder, name), self._root)  # noqa: PTH118

    @contextlib.contextmanager
    def _folder(self, parts: list[str], *, is_made: bool = False) -> Iterator[int]:
        """A descriptor of the folder. Raises Refused."""
        descriptor = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                if is_made:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(part, dir_fd=descriptor)
                inner = os.open(part, _FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        except OSError as error:
            raise Refused(f"{shown('/'.join(parts) or '.')}: {_in_words(error)}") from None
        finally:
            os.close(descriptor)


def _has_crlf(text: str) -> bool:
    return "\r\n" in text and text.count("\n") == text.count("\r\n")


def shown(path: str) -> str:
    return shorten(visible(path), PHRASE)


def _parts(path: str) -> list[str]:
    if len(path) > _LONGEST_PATH or "\0" in path:
        raise Refused("this is not a path")
    if path.startswith(("/", "~")) or ".." in path.split("/"):
        raise Refused(f"{shown(path)} leads out of the folder; write paths as seen from it")
    try:
        path.encode()
    except UnicodeEncodeError:
        raise Refused("this is not a path") from None
    return [part for part in path.split("/") if part not in {"", "."}]


def _entry_names(folder: int) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name


def _content(folder: int, name: str) -> bytes:
    descriptor = os.open(name, _FILE, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{shown(name)} is not a regular file")
        if found.st_size > MOST_BYTES:
            raise Refused(f"{shown(name)} has {found.st_size} bytes; at most {MOST_BYTES} are read")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(MOST_BYTES)
    finally:
        os.close(descriptor)


def _replace(folder: int, name: str, content: bytes) -> None:
    """A link at this place is replaced by the file; what it leads to stays as it is."""
    mode = 0o644
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{shown(name)} is not a regular file, and stays as it is")
        mode = stat.S_IMODE(found.st_mode)
    beside = f".{name[:60]}.{os.getpid()}.tmp"
    descriptor = os.open(beside, _NEW, mode, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.write(content)
        os.chmod(beside, mode, dir_fd=folder)
        os.rename(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _in_words(error: OSError) -> str:
    links = {"Too many levels of symbolic links", "Not a directory"}
    return "it is a link, or no folder" if error.strerror in links else error.strerror or "it cannot be opened"
