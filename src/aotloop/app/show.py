"""What is known of an atom and of an attempt: one value each, the same for a terminal, a page and another program.

Everything comes from the state file, the journal and git; nothing is changed. Texts of agents are made safe to show.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.agents.attempt.scratch import PROMPT, TRANSCRIPT
from aotloop.agents.attempt.transcripts import Step, steps_of
from aotloop.app.history.attempts import Attempt, Fate, attempts_of, folder_of, on_atom, place_in_words
from aotloop.app.loops import known_atom
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Binding, Loop, TrailEntry, Used
from aotloop.core.policy.progress import together
from aotloop.errors import AotError
from aotloop.execution.attempts.attempt_names import taken_apart
from aotloop.execution.journals.file_tail import last_bytes
from aotloop.git.commits.attempt_commit import ref_of
from aotloop.git.commits.commit_diff import FileDiff, commit_at, diff_of
from aotloop.git.repository import Repository, find_repository
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.sanitize import plain, prose

MOST_OF_A_TRANSCRIPT = 8 << 20
"""Bytes from its end."""
MOST_WHILE_IT_GROWS = 512 << 10
MOST_OF_A_PROMPT = 1 << 20
RUNS_ON = "it still runs; its changes are known when it ends"
IN_PLACE = "it worked in place, so no commit of its own has its changes"
CLEANED = "its files were removed by `aot clean`"
NOTHING_CHANGED = "it changed no file"


class AttemptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of one attempt."""

    attempt: Attempt
    fate: str
    """The fate of the attempt, as a sentence."""
    prompt: str = ""
    """Empty: a command did it, or the journal is gone."""
    transcript: tuple[Step, ...] = ()
    diff: tuple[FileDiff, ...] = ()
    no_diff: str = ""
    """Why there is no diff."""
    folder: str | None = None
    """Of its journal; None: it was removed."""


class AtomFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All that is known of one atom."""

    atom: Atom
    waits_for: tuple[str, ...] = ()
    """Dependencies that are not resolved."""
    needed_by: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    """What it was decomposed into."""
    why_not_ready: str | None = None
    """None: it can start, or does not have to."""
    result: Binding | None = None
    failures: tuple[TrailEntry, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    cost_usd: float = 0.0
    seconds: float = 0.0
    used: Used = Used()


def show_atom(store: Store, name: str) -> AtomFacts:
    """Raises AotError for an unknown atom, with the nearest name."""
    loop = store.load()
    atom, graph = known_atom(loop, name), Graph(loop)
    attempts = on_atom(attempts_of(store.path, loop.control.run_id), name)
    return AtomFacts(
        atom=atom,
        waits_for=tuple(graph.waits_for(name)),
        needed_by=tuple(other.id for other in loop.atoms if name in other.depends_on),
        parts=tuple(graph.children_of.get(name, ())),
        why_not_ready=graph.why_not_ready(name) if atom.status == "pending" else None,
        result=loop.bindings.get(name),
        failures=tuple(entry for entry in loop.trail if entry.type == "failure" and entry.atom == name),
        attempts=tuple(attempts),
        cost_usd=round(sum(attempt.cost_usd or 0.0 for attempt in attempts), 6),
        seconds=round(sum(attempt.seconds for attempt in attempts), 3),
        used=together(attempt.used for attempt in attempts),
    )


def show_attempt(store: Store, name: str) -> AttemptFacts:
    """`name`: `A2#1`, or `A2` for its last attempt. Raises AotError if there is no such attempt."""
    loop = store.load()
    attempt = known_attempt(store, loop, name)
    folder = folder_of(store.path, attempt)
    diff, no_diff = changes_of(store, attempt)
    return AttemptFacts(
        attempt=attempt,
        fate=_fate(attempt, folder),
        prompt=_text(folder / PROMPT) if folder is not None else "",
        transcript=tuple(transcript_of(folder)),
        diff=diff,
        no_diff=no_diff,
        folder=str(folder) if folder is not None else None,
    )


def _fate(attempt: Attempt, folder: Path | None) -> str:
    place = place_in_words(folder) if attempt.fate in ("running", "merging") else ""
    return f"{fate_in_words(attempt)}: {prose(place)}" if place else fate_in_words(attempt)


def diff_of_attempt(store: Store, name: str) -> tuple[Attempt, tuple[FileDiff, ...], str]:
    """The attempt, its changes, and why there are none."""
    attempt = known_attempt(store, store.load(), name)
    return attempt, *changes_of(store, attempt)


def known_attempt(store: Store, loop: Loop, name: str) -> Attempt:
    atom, ordinal = taken_apart(name)
    if ordinal is None or any(other.id == name for other in loop.atoms):
        atom, ordinal = name, None
    attempts = on_atom(attempts_of(store.path, loop.control.run_id), atom)
    if not attempts:
        known_atom(loop, atom)  # a removed atom may still have attempts
        raise AotError(f"there is no attempt on {atom} yet", hint=f"`aot show {atom}` says what it waits for.")
    found = attempts[-1:] if ordinal is None else [attempt for attempt in attempts if attempt.ordinal == ordinal]
    if not found:
        there = ", ".join(attempt.name for attempt in attempts[-10:])
        raise AotError(f"there is no attempt {name}", hint=f"There {'is' if len(attempts) == 1 else 'are'}: {there}.")
    return found[-1]


_FATES: dict[Fate, str] = {
    "running": "it still runs",
    "merging": "it is finished and not merged yet{because}",
    "landed": "merged as {commit}",
    "undone": "merged as {commit}, and reverted later",
    "not_merged": "it was finished, but not merged{because}",
    "split": "it proposed to split the atom: {summary}",
    "probed": "it examined the atom: {summary}",
    "waited": "it could not be made then{because}",
    "cut_off": "it was ended before it had a result; it does not count as a failure",
    "failed": "it failed{because}",
}


def fate_in_words(attempt: Attempt) -> str:
    """The fate of the attempt. The reason may have several lines."""
    if attempt.fate == "landed" and attempt.commit is None:
        return "accepted; it changed no file"
    because = f": {plain(attempt.reason)}" if attempt.reason else ""
    commit = (attempt.commit or "")[:10]
    return _FATES[attempt.fate].format(because=because, commit=commit, summary=plain(attempt.summary))


def transcript_of(folder: Path | None) -> list[Step]:
    """Oldest first; of a very long transcript only the end."""
    if folder is None:
        return []
    return steps_of(last_bytes(folder / TRANSCRIPT, MOST_OF_A_TRANSCRIPT)[0].split(b"\n"))


def end_of_transcript(folder: Path) -> tuple[list[Step], bool]:
    """For a transcript that still grows: only its last steps, and whether steps are left out.

    The first step stays the same for a while.
    """
    data, begin = last_bytes(folder / TRANSCRIPT, MOST_WHILE_IT_GROWS, grain=MOST_WHILE_IT_GROWS)
    return steps_of(data.split(b"\n")), begin > 0


def _text(path: Path) -> str:
    return plain(last_bytes(path, MOST_OF_A_PROMPT)[0].decode("utf-8", "replace"))


def changes_of(store: Store, attempt: Attempt) -> tuple[tuple[FileDiff, ...], str]:
    """What it changed, and why there is nothing."""
    repository = find_repository(Path(project_root(store.path)))
    if repository is None:
        return (), IN_PLACE
    commit = _commit(repository, attempt)
    if commit is None:
        return (), _why_no_commit(attempt)
    return diff_of(repository, commit), ""


def _commit(repository: Repository, attempt: Attempt) -> str | None:
    """Its own commit as long as it is kept, else the one on the branch: both hold the same changes."""
    kept = commit_at(repository, ref_of(attempt.atom, attempt.number))
    return kept or (commit_at(repository, attempt.commit) if attempt.commit is not None else None)


def _why_no_commit(attempt: Attempt) -> str:
    if attempt.fate == "running":
        return RUNS_ON
    return CLEANED if attempt.commit is not None else NOTHING_CHANGED
