"""The examination of a loop: the conditions that hold after any number of kills."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
from tests.runner.leftovers import leftovers

from aotloop.core.graph.work_graph import Graph
from aotloop.execution.journals.journal import RECORD, USED
from aotloop.execution.journals.records import Record
from aotloop.flock import lock_file, unlock_file
from aotloop.git.checkout.fast_forward import LOCK
from faults.story import Story

Result = tuple[str, int]
"""An atom and the number of the attempt that did it."""


@dataclass(frozen=True)
class _Commit:
    sha: str
    atom: str
    attempt: str
    reverts: str


def finished(story: Story) -> set[Result]:
    """Results that are on disk, and of which nothing was made yet."""
    loop = story.project.loop
    open_atoms = {atom.id for atom in loop.atoms if atom.status != "resolved"}
    return {
        (one.atom, one.attempt)
        for one in _records(story)
        if one.work is not None
        and one.epoch == loop.control.epoch
        and one.atom in open_atoms
        and (one.atom, one.attempt) == _latest(story, one.atom)
    }


def problems(story: Story, on_disk: set[Result]) -> Iterator[str]:
    """At the end. `on_disk`: all that was finished whenever the run was killed."""
    project = story.project
    control = project.loop.control
    if control.status != "completed" or control.verdict is None or not control.verdict.passed:
        yield f"it is {control.status}: {control.stop_reason}; {control.verdict}"
    elif control.verdict.commit != project.git("rev-parse", "HEAD"):
        yield "the verdict is of another commit"
    yield from story.complaints()
    yield from leftovers(project)
    yield from _litter(project.state_file.parent)
    lock = project.root / ".git" / LOCK
    if (descriptor := lock_file(lock)) is None:
        yield f"a process still holds {lock}"
    else:
        unlock_file(lock, descriptor, remove=False)
    if not project.is_clean():
        yield f"not clean: {project.git('status', '--porcelain')}"
    yield from _fsck(project.root)
    yield from _doubled(story)
    yield from _without_record(story)
    yield from _paid_twice(story, on_disk)


def _litter(folder: Path) -> Iterator[str]:
    for path in folder.iterdir():
        if path.name != "aot-loop-state.md":
            yield f"left behind: {path}"


def _fsck(root: Path) -> Iterator[str]:
    words = ["git", "fsck", "--full", "--strict", "--no-dangling", "--no-progress"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode or done.stdout or done.stderr:
        yield f"git fsck: {done.stdout}{done.stderr}"


def _doubled(story: Story) -> Iterator[str]:
    commits = _commits(story)
    taken_back = {one.reverts for one in commits}
    standing = [one for one in commits if not one.reverts and one.sha not in taken_back]
    for attempt, times in Counter(one.attempt for one in standing).items():
        if times > 1:
            yield f"attempt {attempt} was merged {times} times"
    for name, times in Counter(one.atom for one in standing).items():
        if times > 1:
            yield f"{name} stands on the branch {times} times"
    required = Graph(story.project.loop).required
    for one in standing:
        if one.atom not in required:
            yield f"{one.atom} was given up, and stands on the branch"
    for sha, times in Counter(one.reverts for one in commits if one.reverts).items():
        if times > 1:
            yield f"{sha} was taken back {times} times"


def _without_record(story: Story) -> Iterator[str]:
    """A result is on disk before it is merged; of what was merged, that is still there as evidence."""
    folder = story.project.root / ".aot" / "attempts"
    for one in _commits(story):
        if not one.reverts and not (folder / f"{one.atom}-{one.attempt}" / USED).exists():
            yield f"attempt {one.attempt} on {one.atom} was merged, and there is no record of it"


def _paid_twice(story: Story, on_disk: set[Result]) -> Iterator[str]:
    """A result may be made again only if it did not pass, or if what it was built on was given up."""
    commits = _commits(story)
    taken_back = {one.reverts for one in commits}
    undone = {(one.atom, one.attempt) for one in commits if one.sha in taken_back}
    failed = {entry.atom for entry in story.project.loop.trail if entry.type == "failure"}
    for name, attempt in on_disk:
        again = [number for one, number in story.receipts() if one == name and number > attempt]
        if again and (name, str(attempt)) not in undone and name not in failed:
            yield f"{name} was paid for twice: attempt {attempt} was on disk, then came {again}"


def _commits(story: Story) -> list[_Commit]:
    keys = ("Aot-Atom", "Aot-Attempt", "Aot-Reverts")
    form = "%H" + "".join(f"%x01%(trailers:key={key},valueonly,separator=%x02)" for key in keys)
    lines = story.project.git("log", f"--format={form}").split("\n")
    return [one for one in (_Commit(*line.split("\x01")) for line in lines) if one.atom]


def _records(story: Story) -> Iterator[Record]:
    folder = story.project.root / ".aot" / "attempts"
    for name in os.listdir(folder) if folder.is_dir() else ():  # noqa: PTH208
        path = folder / name / RECORD
        if path.exists():
            yield msgspec.json.decode(path.read_bytes(), type=Record)


def _latest(story: Story, name: str) -> Result:
    return name, max(one.attempt for one in _records(story) if one.atom == name)
