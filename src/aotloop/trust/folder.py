"""The user's data folder. Only this module knows where it is, and how a state file is named in it."""

from __future__ import annotations

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from aotloop.errors import FULL, Unavailable, remedy


def data_folder(name: str) -> Path:
    """Only absolute paths count: a relative one would be in the repository."""
    data, home = os.environ.get("XDG_DATA_HOME", ""), os.path.expanduser("~")  # noqa: PTH111 - never raises
    for folder in (Path(data), Path(home, ".local", "share")):
        if folder.is_absolute():
            return folder / "aotloop" / name
    raise Unavailable("you have no home folder", hint="Set HOME, or XDG_DATA_HOME, to an absolute path.")


def closed_folder() -> tuple[Path, ...]:
    """The folder with everything that a user accepted, agreed to and confirmed, for a fence to close.

    It is made if there is none; empty: it cannot be made.
    """
    with suppress(Unavailable, OSError):
        folder = data_folder("trusted").parent
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return (folder,)
    return ()


def sign_of_decisions() -> tuple[int, ...]:
    """Differs after a person accepted commands or agreed on an objective, or a session proposed something."""
    found = []
    for name in ("trusted", "objectives", "proposals"):
        with suppress(OSError, Unavailable):
            found.append(data_folder(name).stat().st_mtime_ns)
    return tuple(found)


def written_path(path: str) -> str:
    """A path may contain bytes that are not UTF-8. They are written as escapes."""
    return os.fsencode(os.path.realpath(path)).decode("utf-8", "backslashreplace")


def record_of(kind: str, state_file: str) -> Path:
    """The single record of this kind for a state file."""
    return data_folder(kind) / (sha256(written_path(state_file).encode()).hexdigest()[:32] + ".json")


def keep(record: Path, content: bytes, what: str) -> None:
    draft = record.with_name(f"{record.name}.{os.getpid()}.tmp")
    try:
        record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft.touch(mode=0o600)
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # a record that a person relies on survives a power failure
        draft.replace(record)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise not_kept(record, what, error) from error


def not_kept(record: Path, what: str, error: OSError) -> Unavailable:
    if error.errno in FULL:
        return Unavailable(f"{what} cannot be remembered: {record.parent}: {error.strerror}", hint=remedy(error))
    return Unavailable(
        f"{what} cannot be remembered: {record.parent}: {error.strerror}",
        hint="Set XDG_DATA_HOME to a folder that you may write to.",
    )
