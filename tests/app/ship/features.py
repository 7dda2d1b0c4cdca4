"""Features that are shipped by agents which do as they are told, in real repositories, by `aot ship` as a process.

feature = a_feature(tmp_path, orders(work=[fails("no idea"), made({"feature.txt": "it works"})]))
assert feature.ship("a feature", "--no-graph").code == 0
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aotloop.app.ship.feature_start import FeatureOptions, begin_feature
from aotloop.core.model import Loop
from aotloop.core.phases.model import PHASES, Phase, PhaseLoop
from aotloop.phases.project import Project
from aotloop.phases.receipts import file_receipt
from aotloop.statefile.phases.phase_store import PhaseStore
from aotloop.statefile.store import Store
from tests.repositories import new_repository
from tests.runner.agents import Order, done, scripted, times_asked
from tests.runner.projects import Folder, Ran, processes_with
from tests.warm import Process

PLAN = "# Plan\n\n- [ ] S1: write `feature.txt`\n- [ ] S2: write `docs/manual.md` (depends on S1)\n"
TESTS = 'test "$(cat feature.txt)" = "it works"\n'
TEST_FILE = "tests/acceptance/feature_test.sh"
PLAN_FILE = "docs/plans/feature.md"
REVIEW_FILE = "docs/reviews/feature.md"
ENOUGH: list[Order] = [{"answer": {"success": False, "reason": "that is enough"}}]
"""For the phase after the one of interest; with as many iterations as there were failed turns before, and one."""

SHIPPED = "notes are written <promise>SHIPPED</promise>"


def made(files: dict[str, str], summary: str = "it is done", artifact: str | None = None, **more: Any) -> Order:
    """`artifact`: as the answer claims it; the first of the files if nothing else is said."""
    order = done(files, summary, **more)
    claimed = artifact if artifact is not None else next(iter(files), None)
    return {**order, "answer": {**order["answer"], "artifacts": [claimed] if claimed else []}}


def orders(**others: list[Order]) -> dict[str, list[Order]]:
    """For each phase, and for atoms of `work`, one that is enough; unless another one is given."""
    usual = {
        "brainstorm": [made({"docs/brainstorms/feature.md": "an idea\n"}, "an idea was chosen")],
        "plan": [made({PLAN_FILE: PLAN}, "two steps")],
        "spec_test": [made({TEST_FILE: TESTS}, "one test")],
        "deepen": [made({PLAN_FILE: PLAN + "\nBeware of line ends.\n"}, "line ends matter")],
        "work": [made({"feature.txt": "it works\n"}, "built")],
        "A1": [made({"feature.txt": "it works\n"})],
        "A2": [made({"docs/manual.md": "use it\n"})],
        "review": [made({REVIEW_FILE: "No findings.\n"}, "nothing found")],
        "fix": [made({REVIEW_FILE: "- [x] a finding, mended\n", "mended.txt": "mended\n"}, "mended")],
        "re_review": [made({REVIEW_FILE: "- [x] a finding, mended\n\nLooked at.\n"}, "looked again")],
        "compound": [made({"docs/solutions/feature.md": "learnt\n"}, "learnt something")],
        "test": [made({"docs/reports/feature.md": "all pass\n"}, "all pass")],
        "ship": [made({"docs/releases/feature.md": "new: a feature\n"}, SHIPPED)],
    }
    return {**usual, **others}


@dataclass
class Feature(Folder):
    folder: Path

    @property
    def file(self) -> Path:
        return self.root / ".claude" / "autonomous-loop.json"

    @property
    def loop(self) -> PhaseLoop:
        return PhaseStore(str(self.file)).load()

    @property
    def graph(self) -> Loop:
        """The one that was made last of the steps of a phase."""
        return Store(str(self.root / ".claude" / "ship-aot-loop-state.md")).load()

    def ship(self, *arguments: str) -> Ran:
        """With --yes and --json."""
        return self.aot("ship", *arguments, "--yes", "--json")

    @contextmanager
    def shipping(self, *arguments: str) -> Iterator[Process]:
        process = self.start("ship", *arguments, "--yes", "--json")
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def asked(self, key: str) -> int:
        return times_asked(self.folder, key)

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def subjects(self) -> list[str]:
        """Of the commits, oldest first: the phase or the atom that each is of; the first of all left out."""
        log = self.git("log", "--reverse", "--format=%(trailers:key=Aot-Atom,valueonly,separator=%x20)|%s")
        rows = [line.split("|", 1) for line in log.splitlines()[1:]]
        return [atom or title.partition(":")[0] for atom, title in rows]

    def titles(self) -> list[str]:
        """Of the commits, oldest first; the first of all left out."""
        return self.git("log", "--reverse", "--format=%s").splitlines()[1:]

    def commit(self, files: dict[str, str], message: str = "by hand") -> str:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "--all", "--", *files)
        self.git("commit", "--quiet", f"--message={message}")
        return self.git("rev-parse", "HEAD")

    def news(self, kind: str) -> list[dict[str, Any]]:
        lines = (self.root / ".aot" / "events.jsonl").read_text().splitlines()
        return [one for one in map(json.loads, lines) if one["kind"] == kind]

    def refusals(self) -> list[tuple[str, str]]:
        return [(one.phase, one.message) for one in self.loop.errors if one.refused]

    def leftovers(self) -> list[str]:
        """Empty, if everything is as it should be when nobody runs the loop any more."""
        found = [f"process {pid}" for pid in processes_with(f"AOT_STATE_FILE={self.file}\0")]
        caches = Path(os.environ["HOME"], ".cache", "aot")
        found += [str(path) for path in caches.rglob("*")]
        found += [str(path) for path in self.file.parent.iterdir() if path.name.endswith(".run")]
        found += self.git("worktree", "list", "--porcelain").splitlines()[4:]
        return found

    def forced(self) -> list[str]:
        return [one.phase for one in self.loop.errors if one.forced]


def a_feature(
    folder: Path,
    book: dict[str, list[Order]] | None = None,
    *,
    config: str | None = None,
    more: str = "",
    environ: dict[str, str] | None = None,
) -> Feature:
    """`config` in the place of the scripted agent; `more` is added to that."""
    feature = Feature(folder / "project", folder, environ=environ or {})
    feature.root.mkdir()
    text = config if config is not None else scripted(folder, book if book is not None else orders(), more)
    new_repository(feature.root)
    feature.commit({"README.md": "a project\n", "aot.toml": text}, "the beginning")
    return feature


WITHOUT_ROUNDS = tuple(phase for phase in PHASES if phase not in ("fix", "re_review"))


def at(feature: Feature, phase: Phase, /, review: str = "No findings.\n", **wanted: Any) -> Project:
    """The feature begun, and every phase before this one proven, by hand."""
    wishes = {"feature": "a feature", "skip_test_review": True, "branch": "main", **wanted}
    ground = Project(PhaseStore(str(feature.file)))
    begin_feature(ground.store, FeatureOptions(**wishes))
    book = orders(review=[made({REVIEW_FILE: review})])
    while (present := ground.store.load()).phase != phase:
        files = book[present.phase][0]["write"]
        sha = feature.commit(files, f"{present.phase}: by hand")
        filed = file_receipt(ground, artifact=next(iter(files)), sha=sha, summary=f"{present.phase} was done")
        assert not filed.reasons, filed.reasons
    return ground
