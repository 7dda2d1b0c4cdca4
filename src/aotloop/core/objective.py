"""Telling one objective from another: a verdict counts only for the objective it judged."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from aotloop.core.model import Constraints, Objective


def digest_of(objective: Objective) -> str:
    """Of all that says what is wanted and when it is done; limits on the way there do not change that."""
    from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, which most scripts never need

    judged = replace(objective, constraints=Constraints())
    data = msgspec.to_builtins(judged, str_keys=True)
    return sha256(msgspec.json.encode(data, order="deterministic")).hexdigest()[:16]
