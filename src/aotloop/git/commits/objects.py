"""Commits and trees as git objects, without a work tree: messages with trailers, merges of three trees."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, unquote

import msgspec

from aotloop.git.command import Place, git
from aotloop.git.head import is_full
from aotloop.git.repository import Repository
from aotloop.text.shorten import whole_words

ATOM = "Aot-Atom"
ATTEMPT = "Aot-Attempt"
RUN = "Aot-Run"
REVERTS = "Aot-Reverts"
LINK = "120000"
"""The mode of a link."""

_LONGEST_TITLE = 72
_MOST_OF_LINKS = 256 << 20

_OUR_IDENTITY = (
    ("GIT_AUTHOR_NAME", "aot"),
    ("GIT_AUTHOR_EMAIL", "aot@localhost"),
    ("GIT_AUTHOR_DATE", "@0 +0000"),
    ("GIT_COMMITTER_NAME", "aot"),
    ("GIT_COMMITTER_EMAIL", "aot@localhost"),
    ("GIT_COMMITTER_DATE", "@0 +0000"),
)


_PARENTS: dict[str, str] = {}
"""Of commits that this process has made: what git would have to be asked for otherwise. It never changes."""


def known_parent(commit: str) -> str | None:
    """None: not known to this process, or there is none."""
    return _PARENTS.get(commit)


def contains(repository: Repository, commit: str, whole: str = "HEAD") -> bool:
    """Whether `commit` is `whole` or before it in its history. False if there is no such commit."""
    if known_parent(commit) == whole:  # it comes after it
        return False
    return repository.git("merge-base", "--is-ancestor", commit, whole, accept=()).code == 0


class Merged(msgspec.Struct, frozen=True):
    tree: str
    conflicts: tuple[str, ...]
    """The paths with conflicts; then the tree is of no use."""


class Change(msgspec.Struct, frozen=True):
    path: str
    mode_before: str
    mode: str
    blob_before: str
    blob: str


def changes(fields: Iterable[str]) -> Iterator[Change]:
    """Reads the output of `--raw -z --no-renames`."""
    rest = iter(fields)
    for facts, path in zip(rest, rest, strict=True):
        mode_before, mode, blob_before, blob, _ = facts.removeprefix(":").split(" ")
        yield Change(path, mode_before, mode, blob_before, blob)


def link_targets(place: Place, found: Iterable[Change]) -> Iterator[tuple[str, str]]:
    """The path and the target of each link among these changes, read in one call. Raises Unavailable."""
    links = [change for change in found if change.mode == LINK]
    if not links:
        return
    wanted = "".join(f"{change.blob}\n" for change in links).encode()
    told, start = git(place, "cat-file", "--batch", stdin=wanted, most=_MOST_OF_LINKS).out, 0
    for change in links:  # of each: a line that ends with its length, its content, and a line break
        begin = told.index(b"\n", start) + 1
        start = begin + int(told[start:begin].split()[-1]) + 1
        yield change.path, os.fsdecode(told[begin : start - 1])


def title_of(text: str) -> str:
    """The title of a commit, from foreign text."""
    return whole_words(text, _LONGEST_TITLE)


def message_of(text: str, trailers: Mapping[str, str]) -> str:
    """Trailers are a separate paragraph at the end, so that no text before can look like a trailer."""
    body = text.replace("\0", "").strip() or "aot"
    block = "\n".join(f"{key}: {encoded(value)}" for key, value in trailers.items())
    return f"{body}\n\n{block}\n" if block else f"{body}\n"


def encoded(value: str) -> str:
    """Ids may have any characters; a trailer is one line of text without space at its ends."""
    ends = {0, len(value) - 1}
    return "".join(
        character
        if character.isprintable() and character != "%" and not (character == " " and place in ends)
        else quote(character, safe="", errors="surrogatepass")
        for place, character in enumerate(value)
    )


def decoded(value: str) -> str:
    return unquote(value, errors="surrogatepass")


def commit_tree(place: Place, tree: str, parent: str | None, message: str) -> str:
    parents = ["-p", parent] if parent else []
    made = git(place, "commit-tree", tree, *parents, "-F", "-", stdin=message.encode("utf-8", "replace")).text
    if parent is not None and is_full(parent):
        _PARENTS[made] = parent
    return made


def nothing(repository: Repository) -> str:
    """A commit without files, always the same one: the start of work in a repository without commits."""
    return without_history(repository, repository.git("mktree", stdin=b"").text, "nothing\n")


def without_history(repository: Repository, tree: str, message: str) -> str:
    """A commit without author and time: the same tree always gives the same commit."""
    return commit_tree(
        Place(repository.top, variables=(*repository.checkout_variables, *_OUR_IDENTITY)), tree, None, message
    )


def merge(repository: Repository, *, base: str, ours: str, theirs: str, is_child: bool = False) -> Merged:
    """Applies the changes from base to theirs to ours; the real history of the three does not matter.

    Git finds a base by itself, and accepts a given base only since 2.40: so both sides get the base as their parent.
    Theirs may have it already (`is_child`).
    """
    sides = [_child(repository, ours, base), theirs if is_child else _child(repository, theirs, base)]
    done = repository.git("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", *sides, accept=(0, 1))
    tree, *conflicts = done.fields
    return Merged(tree, tuple(dict.fromkeys(conflicts)) if done.code else ())


def _child(repository: Repository, commit: str, parent: str) -> str:
    return commit_tree(repository.place, f"{commit}^{{tree}}", parent, "side of a merge\n")
