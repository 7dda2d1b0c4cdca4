"""Confirmations by a person: of an item's exact words, for this objective and this state of the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, written_path
from aotloop.trust.sealed_records import keep_sealed, sealed_content


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The subject of a confirmation. The confirmation counts for nothing else."""

    state_file: str
    objective_digest: str
    commit: str | None
    """None: there is no commit, so states of the files cannot be compared, and the person is asked each time."""


def confirm(subject: Subject, items: Mapping[str, str]) -> None:
    """`items`: path of names → the person's words about it. Earlier confirmations of the same subject stay."""
    if subject.commit is not None:
        _keep(subject, {**confirmed(subject), **items})


def withdraw(subject: Subject, items: Iterable[str]) -> None:
    """Withdraws confirmations, because a person may change an opinion."""
    kept, gone = confirmed(subject), set(items)
    if not gone.isdisjoint(kept):
        _keep(subject, {path: words for path, words in kept.items() if path not in gone})


def confirmed(subject: Subject) -> dict[str, str]:
    if subject.commit is None:
        return {}
    with suppress(OSError, msgspec.MsgspecError, Unavailable):
        return msgspec.json.decode(sealed_content(_record(subject)), type=_Kept).items
    return {}


class _Kept(msgspec.Struct, frozen=True):
    subject: Subject
    items: dict[str, str]


def _keep(subject: Subject, items: dict[str, str]) -> None:
    about = msgspec.structs.replace(subject, state_file=written_path(subject.state_file))
    keep_sealed(_record(subject), msgspec.json.encode(_Kept(about, items)), "what you confirmed")


def _record(subject: Subject) -> Path:
    words = (written_path(subject.state_file), subject.objective_digest, str(subject.commit))
    return data_folder("confirmed") / (sha256("\0".join(words).encode()).hexdigest()[:32] + ".json")
