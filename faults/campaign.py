"""Trials: one loop each, killed again and again, then left to end, then examined."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.warm import COMMAND

from faults.examining import Result, finished, problems
from faults.story import Story, a_story
from faults.strikes import Strike, draw, lands
from faults.witness import Witness

KILLS = 12
"""Of one loop, at most."""

PATIENCE = 120.0


@dataclass
class Trial:
    seed: int
    strikes: list[Strike] = field(default_factory=list)
    """Those that landed."""
    resolved: list[int] = field(default_factory=list)
    """How many atoms were resolved at each of them."""
    on_disk: set[Result] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    looks: int = 0
    versions: int = 0
    seconds: float = 0.0
    output: str = ""


def trial(folder: Path, seed: int, environ: dict[str, str], kills: int = KILLS) -> Trial:
    chance = random.Random(seed)
    story, done = a_story(folder, environ), Trial(seed)
    began = time.monotonic()
    with Witness(story.project.state_file) as witness:
        is_killed = True
        while is_killed and len(done.strikes) < kills:
            is_killed = _killed(story, done, draw(chance))
        if is_killed:
            _end(story, done)
    done.problems += witness.problems
    done.problems += problems(story, done.on_disk)
    done.looks, done.versions = witness.looks, witness.versions
    done.seconds = time.monotonic() - began
    return done


def _killed(story: Story, done: Trial, strike: Strike) -> bool:
    """False: it ended by itself."""
    project = story.project
    with (project.root.parent / "output").open("ab") as output:
        process = _start(story, output.fileno())
        try:
            struck = lands(strike, process, project, story.traces)
            if struck is None:
                _note_end(story, done, process.returncode)
                return False
        finally:
            process.kill()
            process.wait()
    done.strikes.append(struck)
    done.resolved.append(list(project.statuses().values()).count("resolved"))
    done.on_disk |= finished(story)
    return True


def _end(story: Story, done: Trial) -> None:
    with (story.project.root.parent / "output").open("ab") as output:
        process = _start(story, output.fileno())
        try:
            _note_end(story, done, process.wait(PATIENCE))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            done.problems.append(f"it did not end within {PATIENCE:g} s")


def _note_end(story: Story, done: Trial, code: int) -> None:
    if code != 0:
        last = (story.project.root.parent / "output").read_text(errors="replace").splitlines()[-3:]
        done.problems.append(f"exit {code}: {' | '.join(last)}")


def _start(story: Story, output: int) -> subprocess.Popen[bytes]:
    project = story.project
    return subprocess.Popen(
        [COMMAND, "run", "--yes", "--json"],
        cwd=project.root,
        env=project.environ,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
    )


@dataclass
class Tally:
    """What all trials came to."""

    trials: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    power_cuts: int = 0
    stages: Counter[int] = field(default_factory=Counter)
    """By how many fifths of the atoms were resolved."""
    on_disk: int = 0
    paid_twice: int = 0
    looks: int = 0
    versions: int = 0
    broken: list[Trial] = field(default_factory=list)

    def add(self, done: Trial) -> None:
        self.trials += 1
        self.kills.update(one.kind for one in done.strikes)
        self.power_cuts += sum(one.is_power_cut for one in done.strikes)
        self.stages.update(min(resolved // 4, 4) for resolved in done.resolved)
        self.on_disk += len(done.on_disk)
        self.paid_twice += sum("paid for twice" in problem for problem in done.problems)
        self.looks += done.looks
        self.versions += done.versions
        self.broken += [done] if done.problems else []
