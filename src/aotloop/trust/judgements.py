"""Judgements of agents, stored for this user. A repository cannot bring its own judgements, and no worker writes them.

Each judgement is one small file, named by the digest of everything that was judged. The oldest are deleted when there
are too many.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.clock import now
from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder
from aotloop.trust.sealed_records import keep_sealed, sealed_content

_FOLDER = "judged"
MOST = 2000
_MOST_BEFORE_PRUNING = MOST + 200
"""The margin, so that not every new judgement causes a search through all of them."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    passed: bool
    evidence: str
    scores: dict[str, float] = {}
    item: str = ""
    at: str = ""
    confirmed: bool = False
    """A person agreed, or is reported to have agreed."""


def recall(key: str) -> Kept | None:
    """A judgement that cannot be read counts as missing."""
    with suppress(OSError, msgspec.MsgspecError, Unavailable):
        return msgspec.json.decode(sealed_content(_record(key)), type=Kept)
    return None


def is_anything_kept() -> bool:
    with suppress(OSError, Unavailable):
        return any(data_folder(_FOLDER).iterdir())
    return False


def remember(
    key: str, *, passed: bool, evidence: str, scores: dict[str, float], item: str, confirmed: bool = False
) -> None:
    """If the home folder cannot be written, only the record is lost, not the judgement."""
    kept = Kept(passed=passed, evidence=evidence, scores=scores, item=item, at=now(), confirmed=confirmed)
    with suppress(Unavailable, UnicodeEncodeError):
        record = _record(key)
        keep_sealed(record, msgspec.json.encode(kept), "what was judged")
        _prune(record.parent)


def _record(key: str) -> Path:
    return data_folder(_FOLDER) / f"{key}.json"


def _prune(folder: Path) -> None:
    with suppress(OSError):
        records = [path for path in folder.iterdir() if path.suffix == ".json"]
        if len(records) > _MOST_BEFORE_PRUNING:
            for old in sorted(records, key=_age)[:-MOST]:
                old.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process prunes as well
        return 0.0


_VOTES_FOLDER = "voted"
_MOST = 100
"""The most votes for one key. Any other file there does not belong to aotloop."""


def recall_votes(key: str) -> dict[int, bytes]:
    """A vote that cannot be read counts as missing."""
    found: dict[int, bytes] = {}
    with suppress(OSError, Unavailable):
        for path in list(_folder().glob(f"{key}-*.json"))[:_MOST]:
            number = path.stem.rpartition("-")[2]
            if number.isdecimal():
                with suppress(OSError):
                    found[int(number)] = sealed_content(path)
    return found


def remember_votes(key: str, number: int, content: bytes) -> None:
    """If the home folder cannot be written, only the record is lost, not the vote."""
    with suppress(Unavailable):
        keep_sealed(_folder() / f"{key}-{number}.json", content, "a vote")


def forget_votes(key: str) -> None:
    with suppress(OSError, Unavailable):
        for path in _folder().glob(f"{key}-*.json"):
            path.unlink(missing_ok=True)
        _folder().rmdir()


def _folder() -> Path:
    return data_folder(_VOTES_FOLDER)
