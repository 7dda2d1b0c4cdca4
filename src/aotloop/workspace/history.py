"""What was integrated is read from the branch itself: each commit of ours names its atom, attempt and run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from aotloop.workspace.objects import ATOM, ATTEMPT, REVERTS, RUN, decoded
from aotloop.workspace.repository import Repository

_KEYS = (ATOM, ATTEMPT, RUN, REVERTS)
_FORMAT = "%H%x01%P" + "".join(f"%x01%(trailers:key={key},valueonly,separator=%x02)" for key in _KEYS)


class Integrated(msgspec.Struct, frozen=True):
    sha: str
    parent: str | None
    atom: str
    attempt: str | None
    run: str | None
    reverts: str | None
    """The commit that this one takes back; None: it is somebody's work."""


def commits_of(
    repository: Repository, since: str | None = None, run: str | None = None, paths: Iterable[str] = ()
) -> list[Integrated]:
    """Commits of ours on what is checked out, newest first; reverting ones are among them."""
    head = repository.head().commit
    if head is None:
        return []
    place = ("--", *(f":(top,literal){path}" for path in paths)) if paths else ("--",)
    span = head if since is None else f"{since}..{head}"
    done = repository.git("log", "-z", "--topo-order", f"--format=tformat:{_FORMAT}", span, *place)
    return [one for one in _parsed(done.fields) if run is None or one.run == run]


def _parsed(fields: Iterable[str]) -> Iterator[Integrated]:
    for field in fields:
        sha, parents, *values = field.split("\x01")
        # Of several the last one counts: ours are at the end.
        atom, attempt, run, reverts = (decoded(value.split("\x02")[-1]) if value else None for value in values)
        if atom is not None:
            yield Integrated(sha, parents.split(" ")[0] or None, atom, attempt, run, reverts)
