"""The draft of an objective that was shown to a person: kept once, and named by its digest from then on.

An agent that aligns on a goal sends the objective once. To try it and to agree on it, it names the digest. So what is
agreed on is, byte for byte, what was looked at. One draft is kept for each state file: the last one.
"""

from __future__ import annotations

import re
from hashlib import sha256

import msgspec

from aotloop.errors import AotError
from aotloop.trust.folder import keep, record_of

_KIND = "drafts"
_NAME = re.compile(r"draft-[0-9a-f]{16}")


class _Kept(msgspec.Struct, frozen=True):
    name: str
    content: bytes


def is_name(word: str) -> bool:
    return _NAME.fullmatch(word) is not None


def name_of(content: bytes) -> str:
    return f"draft-{sha256(content).hexdigest()[:16]}"


def keep_draft(state_file: str, content: bytes) -> str:
    """Returns its name. Raises Unavailable if it cannot be kept."""
    name = name_of(content)
    keep(record_of(_KIND, state_file), msgspec.json.encode(_Kept(name, content)), "the draft")
    return name


def draft_named(state_file: str, name: str) -> bytes:
    """Raises AotError if this is not the draft that was kept last, or if it was changed since."""
    record = record_of(_KIND, state_file)
    try:
        kept = msgspec.json.decode(record.read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        raise AotError(f"no draft is kept under the name {name}", hint=_AGAIN) from None
    if name_of(kept.content) != kept.name:
        raise AotError(f"the draft in {record} was changed since it was shown", hint=_AGAIN)
    if kept.name != name:
        raise AotError(f"{name} is not the draft that was looked at last; that is {kept.name}", hint=_AGAIN)
    return kept.content


def forget_draft(state_file: str) -> None:
    record_of(_KIND, state_file).unlink(missing_ok=True)


_AGAIN = "Look at the objective once more: align_goal.py - with its YAML tells the name of the draft."
