"""Verdicts that this user's aotloop reached: a passing verdict in a state file counts only if it has a record here.

A state file can be edited by hand, or by an agent in a session, or it comes with a repository of other people. So what
it says about a passed check is a claim, which this record backs.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from aotloop.core.model import Loop, Verdict
from aotloop.core.objective import digest_of
from aotloop.errors import Unavailable
from aotloop.trust.folder import record_of
from aotloop.trust.sealed_records import keep_sealed, sealed_content

_KIND = "verdicts"
_MOST = 20
_TESTS = "acceptance tests"


class _Passed(msgspec.Struct, frozen=True, kw_only=True):
    about: str
    """The digest of the objective, or a name for the acceptance tests."""
    commit: str | None
    at: str


class _Known(msgspec.Struct, frozen=True):
    passed: tuple[_Passed, ...] = ()


def keep_verdict(state_file: str, verdict: Verdict) -> None:
    if verdict.passed:
        _keep(state_file, _of(verdict))


def is_ours(state_file: str, verdict: Verdict) -> bool:
    """Whether we reached this passing verdict."""
    return verdict.passed and _of(verdict) in _known(state_file)


def is_backed(state_file: str, loop: Loop) -> bool:
    """Whether the verdict of the file is ours, and about the objective of the file."""
    verdict = loop.control.verdict
    if verdict is None or verdict.objective_digest != digest_of(loop.objective):
        return False
    return is_ours(state_file, verdict)


def keep_tested(state_file: str, commit: str, at: str) -> None:
    """The acceptance tests of a feature passed."""
    _keep(state_file, _Passed(about=_TESTS, commit=commit, at=at))


def is_tested(state_file: str, commit: str, at: str) -> bool:
    return _Passed(about=_TESTS, commit=commit, at=at) in _known(state_file)


def _of(verdict: Verdict) -> _Passed:
    return _Passed(about=verdict.objective_digest, commit=verdict.commit, at=verdict.at)


def _keep(state_file: str, passed: _Passed) -> None:
    """A home that cannot be written to costs the memory, not the verdict: it is reached again."""
    with suppress(Unavailable):
        known = (passed, *(other for other in _known(state_file) if other != passed))
        content = msgspec.json.encode(_Known(known[:_MOST]))
        keep_sealed(record_of(_KIND, state_file), content, "which verdicts were reached")


def _known(state_file: str) -> tuple[_Passed, ...]:
    with suppress(OSError, msgspec.MsgspecError, Unavailable):
        return msgspec.json.decode(sealed_content(record_of(_KIND, state_file)), type=_Known).passed
    return ()
