"""Commits on their way to another machine, and trees on their way back.

A runner publishes the commit where an attempt starts. A worker fetches it into a mirror of its own, and sends back a
tree in a thin pack, without the objects that the runner has. What comes back is examined as if a stranger had sent it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.errors import Unavailable
from aotloop.flock import open_lock, wait_for_lock
from aotloop.git.command import LONGEST, Place, git
from aotloop.git.commits.objects import LINK, Change, changes, link_targets
from aotloop.git.repository import Repository, find_repository
from aotloop.git.trees.intake import LARGEST_FILE, MOST_BYTES, refusal_of_link
from aotloop.git.trees.submodules import SUBMODULE

BASES = "refs/aot/bases/"
RESULTS = "refs/aot/results/"

_CAREFUL = ("protocol.ext.allow=never", "fetch.fsckObjects=true", "transfer.fsckObjects=true", "core.longpaths=true")
_SPARING = ("core.bigFileThreshold=8m",)
"""Large files are not held in memory."""
_NAME = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_LARGEST_PACK = 1 << 30
_MOST_LISTED = 256 << 20
_LONGEST_EXAMINATION = 300.0
_MODES = ("000000", "100644", "100755", LINK, SUBMODULE)
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
        raise Unavailable(f"{folder} is not a mirror of ours", hint="Remove it: the next attempt makes a new one.")
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
    """Raises Unavailable if it is damaged, forged, incomplete or too large. `pack` empty: its objects were fetched."""
    place = replace(repository.place, settings=(*repository.place.settings, *_SPARING))
    if pack:
        words = ("index-pack", "--stdin", "--fix-thin", "--strict", f"--max-input-size={_LARGEST_PACK}")
        git(place, *words, stdin=pack, longest=_LONGEST_EXAMINATION)
    if not _NAME.fullmatch(tree):
        raise Unavailable(f"what came back has no tree {tree[:12]}")
    listing = ("rev-list", "--objects", "--missing=print", "--no-object-names", tree, f"^{base}")
    new = git(place, *listing, accept=(), longest=_LONGEST_EXAMINATION, most=_MOST_LISTED)
    if new.code or b"\n?" in b"\n" + new.out:
        raise Unavailable(f"what came back is not complete: {new.complaint if new.code else 'objects miss'}")
    _refuse_odd_objects(place, tree, new.out)
    # A tree of a few objects may have more paths than any memory could hold: this listing is not kept in git's.
    git(place, "ls-tree", "-r", "-z", "--name-only", tree, longest=_LONGEST_EXAMINATION, most=_MOST_LISTED)
    options = ("-r", "--raw", "-z", "--no-renames", "--ignore-submodules=none")
    told = git(place, "diff-tree", *options, base, tree, longest=_LONGEST_EXAMINATION, most=_MOST_LISTED)
    found = tuple(changes(told.fields))
    for change in found:
        if _is_odd(change):
            raise Unavailable(f"what came back has a path or a kind of file that no commit may have: {change.path!r}")
    for path, leads_to in link_targets(place, found):
        if why := refusal_of_link(path, leads_to):
            raise Unavailable(f"what came back cannot land: {why}")
    return Received(tree=tree, changes=found)


def _refuse_odd_objects(place: Place, tree: str, names: bytes) -> None:
    """The same limits as for what an agent leaves here. `names`: of new objects."""
    asked = f"{tree}\n".encode() + names
    listed = git(place, "cat-file", "--batch-check=%(objecttype) %(objectsize)", stdin=asked, most=_MOST_LISTED).out
    kinds = [line.split() for line in listed.splitlines()]
    if kinds[:1] == [] or kinds[0][0] != b"tree":
        raise Unavailable(f"what came back has no tree {tree[:12]}")
    sizes = [int(size) for _, size in kinds[1:] if size.isdigit()]
    if max(sizes, default=0) > LARGEST_FILE or sum(sizes) > MOST_BYTES:
        raise Unavailable(f"what came back is too large: {sum(sizes)} bytes")


def _is_odd(change: Change) -> bool:
    """What git itself would refuse to check out; it is refused before it is committed."""
    return change.mode not in _MODES or any(_is_odd_name(part) for part in change.path.split("/"))


def _is_odd_name(name: str) -> bool:
    """`.git` as some file system may read it: any case, with dots or spaces behind it, as a short name of Windows."""
    plain = "".join(character for character in name if unicodedata.category(character) != "Cf")
    plain = plain.split(":")[0].split("\\")[-1].rstrip(" .").casefold()
    return name in ("", ".", "..") or plain in (".git", "git~1")


def _afar(repository: Repository) -> Place:
    """Git may need the person's own settings to reach another machine: credentials, proxies, names of hosts."""
    return Place(repository.top, settings=_CAREFUL, variables=repository.identity, reads_home=True)


def can_fetch(url: str) -> str | None:
    """Why this address cannot be fetched from; None: it can."""
    place = Place(Path("/"), settings=_CAREFUL, reads_home=True)
    done = git(place, "ls-remote", "--quiet", "--end-of-options", url, "HEAD", accept=(), longest=_LONGEST_LOOK)
    return done.complaint if done.code else None
