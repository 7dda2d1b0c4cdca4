"""By which name an answer is kept: the same for the same question about the same files."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from aotloop.core.objective import digest_of
from aotloop.judging.cases import Case
from aotloop.verify.judge import Question


def key_of(case: Case, leaf: Question, *, votes: int = 1, teller: str | None = None) -> str:
    """Of all that the answer depends on, but for the mood of whoever is asked.

    `teller`: who told it, if no judge of ours was asked; what one tells is not taken for what another found.
    """
    check = leaf.check
    parts = {
        "path": leaf.path,
        "check": msgspec.to_builtins(check, str_keys=True),
        "objective": digest_of(case.objective),
        "files": case.tree.digest(check.scope),
        "votes": votes if check.type == "quality" else 1,
    }
    told = parts if teller is None else {**parts, "teller": teller}
    return sha256(msgspec.json.encode(told, order="deterministic")).hexdigest()[:32]
