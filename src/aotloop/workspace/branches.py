"""Switches the person's checkout to the branch a run is to work on; only ever asked for by name."""

from __future__ import annotations

from aotloop.errors import Unavailable
from aotloop.workspace.repository import Repository


def switch(repository: Repository, name: str) -> None:
    """To this branch, which is made here if there is none. Git refuses where uncommitted changes stand in the way."""
    if repository.git("check-ref-format", "--branch", name, accept=()).code:
        raise Unavailable(f"{name!r} cannot be the name of a branch")
    head = repository.head()
    if head.branch == f"refs/heads/{name}":
        return
    is_there = repository.git("show-ref", "--verify", "--quiet", f"refs/heads/{name}", accept=(0, 1)).code == 0
    done = repository.git("switch", *(() if is_there else ("--create",)), name, accept=())
    if done.code:
        raise Unavailable(f"the branch {name} cannot be checked out: {done.complaint}", hint="See `git status`.")
