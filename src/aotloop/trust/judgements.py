"""What agents judged, for this user: a repository brings no judgements of its own with it, and no worker writes them.

One small file for each, named by the digest of all that was judged; the oldest go when there are too many.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, keep

_FOLDER = "judged"
MOST = 2000
_MOST_BEFORE_PRUNING = MOST + 200
"""So that not every new one has all of them looked at in vain."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    passed: bool
    evidence: str
    scores: dict[str, float] = {}
    item: str = ""
    at: str = ""
    confirmed: bool = False
    """A person agreed, or is said to have agreed."""


def recall(key: str) -> Kept | None:
    """What cannot be read was not judged."""
    with suppress(OSError, msgspec.MsgspecError, Unavailable):
        return msgspec.json.decode(_record(key).read_bytes(), type=Kept)
    return None


def is_anything_kept() -> bool:
    with suppress(OSError, Unavailable):
        return any(data_folder(_FOLDER).iterdir())
    return False


def remember(
    key: str, *, passed: bool, evidence: str, scores: dict[str, float], item: str, confirmed: bool = False
) -> None:
    """A home that cannot be written to costs the memory, not the judgement."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    kept = Kept(passed=passed, evidence=evidence, scores=scores, item=item, at=at, confirmed=confirmed)
    with suppress(Unavailable, UnicodeEncodeError):
        record = _record(key)
        keep(record, msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n", "what was judged")
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
    except FileNotFoundError:  # another one prunes as well
        return 0.0
