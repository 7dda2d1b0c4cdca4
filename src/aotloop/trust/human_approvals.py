"""Approvals of a person, typed in a prompt and recorded by a hook. Scripts act on them, but cannot create them.

There is one small record for each session and kind of approval. The next approval of that kind replaces it, and the
script that acts on an approval removes it. So an approval counts once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder
from aotloop.trust.sealed_records import keep_sealed, sealed_content

Kind = Literal["begin", "approve", "refuse", "advance", "resume", "accept"]


class Word(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    session: str
    folder: str
    """The folder in which it was typed. It counts for a loop of this folder, or of a folder above it."""
    about: str = ""
    """The digest of the question to the person."""
    text: str = ""
    options: Mapping[str, str | int | float | bool] = {}
    at: str = ""


def note(word: Word) -> None:
    keep_sealed(_record(word.kind, word.session), msgspec.json.encode(word), "what you said")


def approval_of(kind: Kind, session: str) -> Word | None:
    """None: there is no approval, or it cannot be read."""
    with suppress(OSError, msgspec.MsgspecError, Unavailable):
        word = msgspec.json.decode(sealed_content(_record(kind, session)), type=Word)
        return word if (word.kind, word.session) == (kind, session) else None
    return None


def take(word: Word) -> None:
    """Removes an approval after a script acted on it."""
    with suppress(OSError, Unavailable):
        _record(word.kind, word.session).unlink(missing_ok=True)


def _record(kind: Kind, session: str) -> Path:
    digest = sha256(f"{kind}\0{session}".encode("utf-8", "replace")).hexdigest()[:32]
    return data_folder("spoken") / f"{digest}.json"
