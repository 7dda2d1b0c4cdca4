"""Every error a user can meet.

    AotError                    expected: shown as cause, place and remedy; never as a traceback
    ├── StateFileError          about the state file as a whole
    │   ├── StateFileMissing    the file does not exist
    │   ├── StateFileInvalid    the file cannot be understood; carries every finding
    │   └── StateFileBusy       another process holds the lock
    ├── IllegalEvent            the event is not possible in the present state of the loop
    ├── NotVerified             the claimed result does not pass its check
    ├── NotTrusted              the user has not accepted commands of the file
    └── Unavailable             something on the machine is missing or refuses

Every other exception is a bug, and is reported as a bug.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol


class Located(Protocol):
    """A finding that names a problem and its place (see aotloop.core.findings)."""

    def __str__(self) -> str: ...


class AotError(Exception):
    """An expected error: the cause, the place and, if known, the remedy."""

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 1) -> None:
        """`exit_code`: the exit code of a program that ends with this error."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class StateFileError(AotError):
    pass


class StateFileMissing(StateFileError):  # noqa: N818 - the name reads as a sentence in `except`
    pass


class StateFileInvalid(StateFileError):  # noqa: N818
    def __init__(
        self, message: str, findings: Sequence[Located] = (), *, hint: str | None = None, exit_code: int = 1
    ) -> None:
        super().__init__(message, hint=hint, exit_code=exit_code)
        self.findings = tuple(findings)


class StateFileBusy(StateFileError):  # noqa: N818
    pass


class IllegalEvent(AotError):  # noqa: N818
    def __init__(self, message: str, *, why: str, cause: str | None = None) -> None:
        """`why` includes the history of the atom, `cause` does not."""
        super().__init__(message)
        self.why = why
        self.cause = cause if cause is not None else why


class NotVerified(AotError):  # noqa: N818
    pass


class NotTrusted(AotError):  # noqa: N818
    def __init__(
        self, message: str, commands: Sequence[str] = (), *, hint: str | None = None, exit_code: int = 1
    ) -> None:
        """`commands`: the commands that a person has to read."""
        super().__init__(message, hint=hint, exit_code=exit_code)
        self.commands = tuple(commands)


class Unavailable(AotError):  # noqa: N818
    pass


@contextmanager
def writing(path: object) -> Iterator[None]:
    """A write to an open file fails without the name of the file: it is added."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def refusal(error: AotError | OSError) -> AotError:
    """Turns an error of the system (a full disk, a folder without permission) into an expected error."""
    if isinstance(error, AotError):
        return error
    where = f"{error.filename!s}: " if error.filename is not None else ""
    return Unavailable(f"{where}{error.strerror or error}", hint=remedy(error))


FULL = (errno.ENOSPC, errno.EDQUOT)


def remedy(error: OSError) -> str | None:
    """What a person can do about an error of the system; None: unknown."""
    return _REMEDIES.get(error.errno or 0)


_REMEDIES = {
    **dict.fromkeys(FULL, "Free some space on the disk, then try again."),
    errno.EFBIG: "The file would be larger than is allowed here; see `ulimit -f`.",
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Check the permissions of this file and of its folder."),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "Too many files are open; end some programs, or raise `ulimit -n`."),
    errno.EIO: "The disk reports an error; check the disk before you continue.",
}
