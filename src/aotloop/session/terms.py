"""On what terms an atom's work is taken: nothing in it that no agent may change, and a commit that says whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import shorten

from aotloop.agents.wording import plain
from aotloop.session.outcomes import Job, Refused
from aotloop.statefile.belongings import our_files
from aotloop.statefile.locate import STATE_FILE
from aotloop.workspace.attempts import refuse
from aotloop.workspace.objects import ATOM, ATTEMPT, RUN
from aotloop.workspace.repository import Repository

_LONGEST_TITLE = 72
_SHOWN = 5


def title_of(job: Job) -> str:
    return shorten(plain(f"{job.atom.id}: {job.atom.description}"), _LONGEST_TITLE, placeholder="…")


def trailers_of(job: Job, attempt: str) -> dict[str, str]:
    return {ATOM: job.atom.id, ATTEMPT: attempt, RUN: job.run_id}


def trespass(job: Job, repository: Repository, paths: Iterable[str]) -> Refused | None:
    protect = (*job.loop.objective.protect, f"**/{STATE_FILE}")
    refused = refuse(paths, protect, our_files(job.store.path, str(repository.root)), repository.prefix)
    if not refused:
        return None
    more = f" and {len(refused) - _SHOWN} more" if len(refused) > _SHOWN else ""
    reason = f"it changed what no attempt may change: {', '.join(refused[:_SHOWN])}{more}"
    return Refused(why="protected", reason=reason, paths=refused)
