"""Corrections that an agent's session proposes: nothing changes until a person accepts one.

Each is one file in the user's data folder, named by the digest of its content. So a person accepts exactly what was
shown: other content has another name.
"""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from aotloop.app.redirect.preview import Preview, preview, redirect_at_once
from aotloop.app.redirect.transaction import Applied
from aotloop.app.redirect.wishes import Wishes, changes_in
from aotloop.clock import now
from aotloop.errors import AotError, Unavailable
from aotloop.execution.journals.file_tail import last_bytes
from aotloop.statefile.store import Store
from aotloop.trust.folder import keep, record_of
from aotloop.trust.person import refuse_clients

FOLDER = "proposals"
MOST = 20
"""Open proposals about one loop."""
LARGEST = 64 << 10
"""Bytes of one proposal."""


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    at: str
    by: str
    """The client that proposed it, as it names itself."""
    wishes: Wishes


class _Record(msgspec.Struct, frozen=True, kw_only=True):
    at: str
    by: str
    wishes: Wishes


def propose(store: Store, wishes: Wishes, by: str) -> tuple[Proposal, Preview]:
    """Raises what the correction itself would raise. The same wishes are one proposal."""
    if wishes.accept:
        raise AotError("only a person accepts what was edited in the file", hint="`aot redirect --accept` does it.")
    shown = preview(store, changes_in(wishes))
    for known in proposals_of(store):
        if known.wishes == wishes:
            return known, shown
    if len(proposals_of(store)) >= MOST:
        raise AotError(f"{MOST} proposals wait for a person already", hint="`aot proposal` shows them.")
    content = msgspec.json.encode(_Record(at=now(), by=by[:100], wishes=wishes))
    if len(content) > LARGEST:
        raise AotError(f"the proposal is too long: {len(content):,} bytes, at most {LARGEST:,}")
    name = _digest(content)
    keep(_file(store, name), content, "the proposal")
    return Proposal(name=name, at=now(), by=by, wishes=wishes), shown


def proposals_of(store: Store) -> list[Proposal]:
    """The oldest first. What is not a proposal, or was changed since it was made, is ignored."""
    found = list[Proposal]()
    with suppress(OSError, Unavailable):
        for path in _file(store, "0").parent.glob(_file(store, "*").name):
            content, name = last_bytes(path, LARGEST)[0], path.stem.rpartition("-")[2]
            with suppress(msgspec.MsgspecError, ValueError):
                record = msgspec.json.decode(content, type=_Record)
                if name == _digest(content):
                    found.append(Proposal(name=name, at=record.at, by=record.by, wishes=record.wishes))
    return sorted(found, key=lambda proposal: (proposal.at, proposal.name))


def known_proposal(store: Store, name: str) -> Proposal:
    for proposal in proposals_of(store):
        if proposal.name == name:
            return proposal
    raise AotError(f"there is no proposal {name}", hint="`aot proposal` lists the open ones.")


def preview_of(store: Store, proposal: Proposal) -> Preview:
    """What accepting it would do now."""
    return preview(store, changes_in(proposal.wishes))


def accept_proposal(store: Store, name: str, seen: int | None = None) -> Applied:
    """For a person who saw it. It becomes a correction of that person, and is not open any more.

    `seen`: the number of corrections in the preview that was shown.
    """
    refuse_clients("only a person accepts a proposal")
    proposal = known_proposal(store, name)
    applied = redirect_at_once(store, changes_in(proposal.wishes), seen)
    _remove(store, name)
    return applied


def dismiss_proposal(store: Store, name: str) -> None:
    refuse_clients("only a person dismisses a proposal")
    _remove(store, known_proposal(store, name).name)


def _remove(store: Store, name: str) -> None:
    with suppress(OSError):
        _file(store, name).unlink(missing_ok=True)


def _file(store: Store, name: str) -> Path:
    """All in one folder: its time says that there is something new."""
    record = record_of(FOLDER, store.path)
    return record.with_name(f"{record.stem}-{name}.json")


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
