"""Every error a user can meet.

    AotError                    expected: shown as what, where, what to do; never as a traceback
    ├── StateFileError          about the state file as a whole
    │   ├── StateFileMissing    there is none where we looked
    │   ├── StateFileInvalid    it cannot be understood; carries every finding
    │   └── StateFileBusy       another process keeps the lock
    ├── IllegalEvent            the loop is not in a state in which that can happen
    ├── NotVerified             what was claimed to be done does not pass its check
    ├── NotTrusted              commands of the file were not accepted by this user
    └── Unavailable             something the machine should have is missing or refuses

Anything else that escapes is a bug, and is reported as one.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import Protocol


class Located(Protocol):
    """A finding that can say what is wrong and where (see aotloop.core.findings)."""

    def __str__(self) -> str: ...


class AotError(Exception):
    """What happened and where, and, where we know it, what to do about it."""

    def __init__(self, message: str, *, hint: str | None = None, exit_code: int = 1) -> None:
        """`exit_code`: what a program that ends with this error exits with."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class StateFileError(AotError):
    pass


class StateFileMissing(StateFileError):  # noqa: N818 - reads as a sentence where it is caught
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
        """`why` tells the atom's story too, `cause` does not."""
        super().__init__(message)
        self.why = why
        self.cause = cause if cause is not None else why


class NotVerified(AotError):  # noqa: N818
    pass


class NotTrusted(AotError):  # noqa: N818
    def __init__(
        self, message: str, commands: Sequence[str] = (), *, hint: str | None = None, exit_code: int = 1
    ) -> None:
        """`commands`: those that a person has to look at."""
        super().__init__(message, hint=hint, exit_code=exit_code)
        self.commands = tuple(commands)


class Unavailable(AotError):  # noqa: N818
    pass


def refusal(error: AotError | OSError) -> AotError:
    """What the system refuses (a full disk, a folder that cannot be made) is expected like anything else."""
    if isinstance(error, AotError):
        return error
    where = f"{error.filename!s}: " if error.filename is not None else ""
    return Unavailable(f"{where}{error.strerror or error}", hint=remedy(error))


def remedy(error: OSError) -> str | None:
    """What a person can do about what the system refuses; None: we do not know."""
    return _REMEDIES.get(error.errno or 0)


_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Make room on the disk, then try again."),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Check the permissions of it and of its folder."),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "Too many files are open; end other programs, or raise `ulimit -n`."),
    errno.EIO: "The disk reports an error; look at it before you go on.",
}
