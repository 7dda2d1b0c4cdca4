"""What a person said in a prompt, as a hook saw it typed: scripts act on it, and none of them can say it for them.

One small record for each session and kind of word; the next word of that kind takes its place, and whoever acts on a
word takes it away: it was said once, and counts once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal

import msgspec

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, keep

Kind = Literal["begin", "approve", "refuse", "advance", "resume", "accept"]


class Word(msgspec.Struct, frozen=True, kw_only=True):
    kind: Kind
    session: str
    folder: str
    """Where it was said; it counts for a loop of this folder, or of one above it."""
    about: str = ""
    """The digest of what the person was asked about."""
    text: str = ""
    options: Mapping[str, str | int | float | bool] = {}
    at: str = ""


def note(word: Word) -> None:
    content = msgspec.json.format(msgspec.json.encode(word), indent=2) + b"\n"
    keep(_record(word.kind, word.session), content, "what you said")


def said(kind: Kind, session: str) -> Word | None:
    """None: nobody said it, or it cannot be looked up."""
    with suppress(OSError, msgspec.MsgspecError, Unavailable):
        word = msgspec.json.decode(_record(kind, session).read_bytes(), type=Word)
        return word if (word.kind, word.session) == (kind, session) else None
    return None


def take(word: Word) -> None:
    """It was acted on."""
    with suppress(OSError, Unavailable):
        _record(word.kind, word.session).unlink(missing_ok=True)


def _record(kind: Kind, session: str) -> Path:
    digest = sha256(f"{kind}\0{session}".encode("utf-8", "replace")).hexdigest()[:32]
    return data_folder("spoken") / f"{digest}.json"
