"""Commits on their way to another machine, and trees on their way back.

A runner publishes the commit where an attempt starts. A worker fetches it into a mirror of its own, and sends back a
tree in a thin pack, without the objects that the runner has. What comes back is examined as if a stranger had sent it.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.flock import open_lock, wait_for_lock
from aotloop.git.command import LONGEST, Place, git
from aotloop.git.objects import Change, changes
from aotloop.git.repository import Repository, find_repository

BASES = "refs/aot/bases/"
RESULTS = "refs/aot/results/"

_CAREFUL = ("protocol.ext.allow=never", "fetch.fsckObjects=true", "transfer.fsckObjects=true", "core.longpaths=true")
_LARGEST_PACK = 1 << 30
_LONGEST_LOOK = 60.0


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """A tree that is complete in this repository."""

    tree: str
    changes: tuple[Change, ...]


def publish(repository: Repository, commit: str, url: str | None) -> None:
    """Makes the commit available to workers. `url` None: they fetch from this repository itself."""
    ref = f"{BASES}{commit}"
    if url is None:
        repository.git("update-ref", ref, commit)
    else:
        git(_afar(repository), "push", "--quiet", "--no-verify", "--end-of-options", url, f"+{commit}:{ref}")


def mirror(folder: Path) -> Repository:
    """The repository of a worker; it has no files checked out. Raises Unavailable."""
    if not (folder / ".git").is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        git(Place(folder), "init", "--quiet", "--initial-branch=aot")
    found = find_repository(folder)
    if found is None or found.top != folder.resolve():
        raise Unavailable(f"{folder} is not a mirror of ours", hint="Remove it: the next attempt makes it anew.")
    return found


def receive_commit(repository: Repository, url: str, commit: str, ref: str = "") -> None:
    """One fetch at a time: the next one then finds the commit. The ref keeps it, so that less is sent later."""
    lock = open_lock(repository.common_dir / "aot-fetch.lock")
    try:
        if not wait_for_lock(lock, LONGEST):
            raise Unavailable(f"another fetch into {repository.top} does not end")
        if has_commit(repository, commit):
            repository.git("update-ref", ref or f"{BASES}{commit}", commit)
            return
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        git(_afar(repository), *words, "--end-of-options", url, f"+{commit}:{ref or f'{BASES}{commit}'}")
    finally:
        os.close(lock)


def has_commit(repository: Repository, commit: str) -> bool:
    return repository.git("cat-file", "-e", f"{commit}^{{commit}}", accept=()).code == 0


def tree_of(repository: Repository, commit: str) -> str:
    return repository.git("rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}").text


def thin_pack(repository: Repository, tree: str, base: str) -> bytes:
    wanted = f"{tree}\n^{base}\n".encode()
    return repository.git("pack-objects", "--revs", "--thin", "--stdout", "-q", "--delta-base-offset", stdin=wanted).out


def send_result(repository: Repository, url: str, commit: str, ref: str) -> None:
    """For a result that is too large for a message."""
    git(_afar(repository), "push", "--quiet", "--no-verify", "--end-of-options", url, f"+{commit}:{ref}")


def fetch_result(repository: Repository, url: str | None, ref: str) -> None:
    """`url` None: the worker has pushed it to this repository."""
    if url is not None:
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
        git(_afar(repository), *words, "--end-of-options", url, f"+{ref}:{ref}")


def drop_result(repository: Repository, url: str | None, ref: str) -> None:
    repository.git("update-ref", "-d", ref, accept=())
    if url is not None:
        git(_afar(repository), "push", "--quiet", "--no-verify", "--end-of-options", url, f":{ref}", accept=())


def receive_tree(repository: Repository, pack: bytes, tree: str, base: str) -> Received:
    """Raises Unavailable if the objects are damaged, forged or incomplete. `pack` empty: they were fetched."""
    if pack:
        words = ("index-pack", "--stdin", "--fix-thin", "--strict", f"--max-input-size={_LARGEST_PACK}")
        repository.git(*words, stdin=pack)
    if repository.git("cat-file", "-t", tree, accept=()).text != "tree":
        raise Unavailable(f"what came back has no tree {tree[:12]}")
    missing = repository.git("rev-list", "--objects", "--missing=print", tree, f"^{base}", accept=())
    if missing.code or b"\n?" in b"\n" + missing.out:
        raise Unavailable(f"what came back is not complete: {missing.complaint if missing.code else 'objects miss'}")
    options = ("-r", "--raw", "-z", "--no-renames", "--ignore-submodules=none")
    return Received(tree=tree, changes=tuple(changes(repository.git("diff-tree", *options, base, tree).fields)))


def _afar(repository: Repository) -> Place:
    """Git may need the person's own settings to reach another machine: credentials, proxies, names of hosts."""
    return Place(repository.top, settings=_CAREFUL, variables=repository.identity, reads_home=True)


def can_fetch(url: str) -> str | None:
    """Why this address cannot be fetched from; None: it can."""
    place = Place(Path("/"), settings=_CAREFUL, reads_home=True)
    done = git(place, "ls-remote", "--quiet", "--end-of-options", url, "HEAD", accept=(), longest=_LONGEST_LOOK)
    return done.complaint if done.code else None
