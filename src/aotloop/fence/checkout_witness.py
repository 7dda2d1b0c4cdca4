"""The witness of a checkout: what commands that ran in it changed, although they may not.

They run code that agents wrote. Behind bubblewrap git and the files of the loop are closed, and tracked files are not.
Behind Landlock, and without a fence, nothing of the checkout is closed. So git's settings, refs, index and HEAD,
tracked files, the files of the loop and settings of clients are compared before and after. A difference does not prove
who made it; but then no verdict is about one commit, and it is undecided.
"""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from aotloop.core.model import Objective
from aotloop.errors import AotError
from aotloop.fence.protected_watch import Protected, protected_at
from aotloop.foreign_files import begin_of_foreign
from aotloop.git.checkout import inventory
from aotloop.git.repository import Repository, find_repository
from aotloop.process.sandbox import Confinement, in_force
from aotloop.statefile.durable import JOURNALS, beside, our_files
from aotloop.statefile.lease import holder_of
from aotloop.text.phrases import listed

_SETTINGS = (
    "aot.toml",
    ".mcp.json",
    "opencode.json",
    ".codex",
    ".opencode",
    ".gemini",
    ".gitattributes",
    ".gitmodules",
)
_EVENTS = "events.jsonl"
_FETCHED = "refs/remotes/"
"""An editor fetches them at any time."""
_RECORDS = ("record.json", "record.codes", "used.json")
_UNCOMPARED = frozenset({"worktrees", "sittings", f"old-{_EVENTS}"})
_MOST_ENTRIES = 100_000
_MOST_BYTES = 40_000_000
_MOMENT, _PATIENCE = 0.02, 1.0
"""Seconds, until a change of the state file was taken in."""


class Sight(msgspec.Struct, frozen=True, kw_only=True):
    """The checkout at one moment."""

    settings: inventory.Settings = {}
    read_first: inventory.Settings = {}
    local: bytes = b""
    facts: inventory.Facts = {}
    events: int = 0
    """The length of the file of events, which only grows."""
    counts: tuple[int, int] = (0, 0)
    """How many folders of attempts this process had written to, and how many edits of the state file it had seen."""


class OwnRun(msgspec.Struct, frozen=True, kw_only=True):
    """What this process itself writes while it runs the loop."""

    written: list[str] = []
    """The names of attempts whose records it writes: each is noted before and after it is written."""
    objection: Callable[[Objective], list[str]] = lambda _: []
    """Protected files that are not as they were agreed on."""
    is_stale: Callable[[], bool] = lambda: False
    """Whether the state file was changed, and this process has not taken that in yet."""


class CheckoutWitness:
    def __init__(
        self,
        root: Path,
        state_file: str,
        confinement: Confinement | None,
        run: OwnRun | None = None,
        repository: Repository | None = None,
    ) -> None:
        """`run`: None if this process does not run the loop. `repository`: None if it is not known yet."""
        engine = in_force(confinement.policy).engine if confinement is not None else "off"
        self.is_closed = engine in {"bwrap", "srt"}
        """Git cannot be changed, nor can the loop's files where they have a folder of their own."""
        self._closes_all = self.is_closed and Path(state_file).parent != root
        self._restores = engine != "off"
        self._root = root
        self._state_file = state_file
        self._run = run or OwnRun()
        self._repository = repository or _repository_of(root)
        self._edits: list[str] = []
        self._expected: inventory.Facts = {}
        """How it was before it was changed, for each difference that is still there."""

    def protected(self, patterns: Sequence[str]) -> Protected | None:
        """The protected files of the commit that is checked out."""
        if self._repository is None:
            return None
        ours = our_files(self._state_file, str(self._root))
        return protected_at(self._repository, self._repository.head().commit, patterns, ours)

    def objection(self, objective: Objective) -> list[str]:
        """In which way the protected files are not as they were when a person agreed, also after a commit."""
        return self._run.objection(objective)

    def edited(self, paths: Sequence[str]) -> None:
        """The state file was changed by a person or another process while this process ran the loop."""
        self._edits += paths

    def begin(self) -> Sight:
        """Call it before the commands."""
        length = self._length_of_events()  # first: our own run appends to it at any moment
        counts = (len(self._run.written), len(self._edits))  # before the files: they may be written right now
        repository, facts = self._repository, self._of_files(Sight(events=length))
        settings: inventory.Settings = {}
        local = b""
        if repository is not None:
            settings = inventory.settings_of(repository, included_only=self.is_closed)
            local = inventory.local_settings(repository, settings)
            facts |= self._of_git(repository)
        first = inventory.read_first(repository) if repository is not None and not self.is_closed else {}
        return Sight(settings=settings, read_first=first, local=local, facts=facts, events=length, counts=counts)

    def changes(self, before: Sight) -> list[str]:
        """Call it after the commands, when none of them runs any more."""
        if self._repository is None:
            return self._differences(before, self._of_files(before))
        told = self._settings_changed(self._repository, before)
        if told:
            return told
        facts = self._of_files(before)
        try:
            facts |= self._of_git(self._repository)
        except AotError as error:
            return [f"git, which does not answer any more: {error.message}"]
        return self._differences(before, facts)

    def _settings_changed(self, repository: Repository, before: Sight) -> list[str]:
        """Before any other git is started: it would do what they say."""
        if not self.is_closed and (blocked := inventory.blocked_files(repository)):
            inventory.put_settings_back(before.read_first, blocked, self._kept())
            return [os.path.relpath(path, self._root) for path in blocked]
        now = inventory.settings_of(repository, included_only=self.is_closed)
        changed = inventory.differing(before.settings, now)
        names = [os.path.relpath(path, self._root) for path in changed]
        if changed and self._restores:
            kept = self._kept()
            left = inventory.put_settings_back(before.settings, changed, kept)
            names.append(f"(put back{f' except {len(left)}' if left else ''}; kept in {kept})")
        if not changed and inventory.local_settings(repository, before.settings) != before.local:
            names = ["settings of git in an included file"]
        return names

    def _kept(self) -> Path:
        """A new folder for what is put back."""
        return self._root / JOURNALS / "strayed" / secrets.token_hex(4)

    def _differences(self, before: Sight, now: inventory.Facts) -> list[str]:
        began, edits = before.counts
        was = {**before.facts, **self._expected}
        ours = tuple(f"{JOURNALS}/attempts/{name}/" for name in self._run.written[began:])
        changed = [
            key for key in sorted({*was, *now}) if was.get(key, "") != now.get(key, "") and not key.startswith(ours)
        ]
        has_moved = "HEAD" in changed  # then most of git differs, and the next comparison begins with the new commit
        self._expected = {key: was.get(key, "") for key in changed if not has_moved or key.startswith(JOURNALS)}
        is_edited = not self._closes_all and self._is_edited_since(edits)
        told = [os.path.relpath(self._state_file, self._root)] if is_edited else []
        return ["HEAD", *told] if has_moved else [*told, *changed]

    def _is_edited_since(self, edits: int) -> bool:
        deadline = time.monotonic() + _PATIENCE
        while self._run.is_stale() and time.monotonic() < deadline:
            time.sleep(_MOMENT)
        return len(self._edits) > edits

    # --- what is compared ----------------------------------------------------------------------------------------

    def _of_git(self, repository: Repository) -> inventory.Facts:
        facts = inventory.head_facts(repository) | inventory.tracked_facts(repository)
        ours = our_files(self._state_file, str(self._root))
        prefix = f"{repository.prefix}/" if repository.prefix else ""
        mine = tuple(f"{prefix}{path}" for path in ours)  # they may be tracked, and change by themselves
        facts = {path: fact for path, fact in facts.items() if not path.startswith(mine)}
        if self.is_closed:
            return facts
        refs = {name: fact for name, fact in inventory.ref_facts(repository).items() if not name.startswith(_FETCHED)}
        return facts | refs | inventory.index_facts(repository)

    def _length_of_events(self) -> int:
        with suppress(OSError):
            return min(os.lstat(self._root / JOURNALS / _EVENTS).st_size, _MOST_BYTES)
        return 0

    def _of_files(self, before: Sight) -> inventory.Facts:
        paths = [self._root / name for name in _SETTINGS]
        if self._closes_all:
            return dict(self._stamped(paths))
        folder = Path(self._state_file).parent
        ours = {str(self._root / path) for path in our_files(self._state_file, str(self._root))}
        facts = dict(self._stamped([*paths, *([folder] if folder != self._root else [])], ours))
        if self._is_shared():
            return facts
        if holder_of(self._state_file) is None:  # else our own run writes it, and compares it
            facts |= dict(self._stamped([Path(self._state_file), Path(beside(self._state_file, "log"))]))
        return facts | dict(self._of_journal(before))

    def _is_shared(self) -> bool:
        """Whether another process runs this loop: it writes records meanwhile."""
        holder = holder_of(self._state_file)
        return holder is not None and holder.pid != os.getpid()

    def _of_journal(self, before: Sight) -> Iterator[tuple[str, str]]:
        folder, key = self._root / JOURNALS, f"{JOURNALS}/{_EVENTS}"
        names = (_EVENTS, f"old-{_EVENTS}")  # a run starts a new file when the old one is long
        digests = [sha256(begin_of_foreign(folder / name, before.events)).hexdigest() for name in names]
        known = before.facts.get(key)
        yield key, known if known in digests else digests[0]
        yield from self._stamped([folder / ".gitignore"])
        with suppress(OSError), os.scandir(folder / "attempts") as entries:
            for entry in entries:
                place = Path(entry.path)
                is_over = any(os.path.lexists(place / name) for name in _RECORDS)
                yield from self._stamped([place] if is_over else [place / name for name in _RECORDS])

    def _stamped(self, paths: Sequence[Path], without: set[str] | None = None) -> Iterator[tuple[str, str]]:
        """Every file there and below; a link is not followed."""
        pending, count = [str(path) for path in paths], 0
        while pending and count < _MOST_ENTRIES:
            path = pending.pop()
            count += 1
            if (without and path in without) or path.rpartition("/")[2] in _UNCOMPARED:
                continue
            with suppress(OSError):
                found = os.lstat(path)
                if stat.S_ISDIR(found.st_mode):
                    with os.scandir(path) as entries:
                        pending += [entry.path for entry in entries]
                else:
                    stamp = f"{found.st_ino} {found.st_mode} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"
                    yield os.path.relpath(path, self._root), stamp


def remedy_for(changed: Sequence[str]) -> str:
    """What a person is told."""
    return (
        f"changed while its commands ran: {listed(changed)}. So it is not known what was tried. Look at it, undo it,"
        " and try again; commands may write to ignored and to new files"
    )


def _repository_of(root: Path) -> Repository | None:
    with suppress(AotError):
        return find_repository(root)
    return None
