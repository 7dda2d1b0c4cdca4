"""Whether a person may be speaking. Confirming, accepting, approving and forcing are theirs, and of nothing we started.

Three signs say no: a variable of a run, here or in an ancestor; a fence, behind which the person's data folder cannot
be written though its owner may; and a client among the ancestors, for a loop that a session drives, for what a session
proposed, and for a page that can steer.
"""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress

from aotloop.errors import NotTrusted, Unavailable
from aotloop.process.ancestry import is_below_a_client, is_below_a_run
from aotloop.trust.folder import data_folder

_IN_A_TERMINAL = "Run the command in your own terminal."


def refuse_agents(why: str, hint: str | None = _IN_A_TERMINAL) -> None:
    """For what only a person may do. `why`: the end of a sentence. Raises NotTrusted."""
    if is_attempt():
        raise NotTrusted(f"this is an attempt of a loop, and {why}", hint=hint)


def refuse_session(session: str | None, why: str) -> None:
    """`session`: the one that drives the loop; None: no session does. Raises NotTrusted."""
    if session is not None and is_below_a_client():
        raise NotTrusted(f"a session drives this loop, its agent called this command, and {why}", hint=_IN_A_TERMINAL)


def refuse_clients(why: str, hint: str = _IN_A_TERMINAL) -> None:
    """For what no session may do, whichever loop it drives. Raises NotTrusted for an attempt, too."""
    refuse_agents(why, hint)
    if is_below_a_client():
        raise NotTrusted(f"an agent's client called this command, and {why}", hint=hint)


def is_attempt() -> bool:
    """Whether a run, or what it started, has started this process: it has the person's rights, but is no person."""
    return is_below_a_run() or _is_fenced()


def _is_fenced() -> bool:
    """Whether the kernel refuses what the owner of the folder may do."""
    with suppress(Unavailable, OSError):
        folder = data_folder("trusted").parent
        found = folder.stat()
        if found.st_uid not in (os.geteuid(), 0) or not found.st_mode & 0o200:
            return False
        probe = folder / f".{secrets.token_hex(8)}"
        try:
            os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except OSError as error:
            return error.errno in (errno.EACCES, errno.EPERM) and os.geteuid() in (found.st_uid, 0)
        probe.unlink()
    return False
