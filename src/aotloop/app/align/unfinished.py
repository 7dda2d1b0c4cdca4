"""An alignment that a person began and did not finish: kept in the user's data folder, so that Ctrl-C loses nothing."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from aotloop.app.align.draft import Draft
from aotloop.app.align.draft_file import read_draft, write_draft
from aotloop.clock import now
from aotloop.errors import StateFileInvalid, Unavailable
from aotloop.statefile.store import Store
from aotloop.trust.folder import keep, record_of

_KIND = "unfinished"
"""Another folder than that of `trust.drafts`: an agent's proposal must not replace what a person has begun."""


class Unfinished(msgspec.Struct, frozen=True, kw_only=True):
    draft: Draft
    request: str = ""
    """In a person's words."""
    answers: tuple[tuple[str, str], ...] = ()
    """What an agent asked, and what the person answered."""
    at: str = ""


class _Record(msgspec.Struct, frozen=True):
    at: str
    draft: str
    request: str = ""
    answers: tuple[tuple[str, str], ...] = ()


def remember(store: Store, unfinished: Unfinished) -> None:
    """If the home folder cannot be written, the dialogue continues and is not remembered."""
    record = _Record(now(), write_draft(unfinished.draft), unfinished.request, unfinished.answers)
    with suppress(Unavailable):
        keep(record_of(_KIND, store.path), msgspec.json.encode(record), "the draft")


def recall(store: Store) -> Unfinished | None:
    """None: nothing was begun, or it cannot be read any more."""
    try:
        record = msgspec.json.decode(record_of(_KIND, store.path).read_bytes(), type=_Record)
        draft = read_draft(record.draft.encode(), "the draft") if record.draft.strip() else Draft()
    except (OSError, Unavailable, msgspec.DecodeError, StateFileInvalid):
        return None
    return Unfinished(draft=draft, request=record.request, answers=record.answers, at=record.at)


def forget(store: Store) -> None:
    with suppress(OSError, Unavailable):
        record_of(_KIND, store.path).unlink(missing_ok=True)
