"""A real repository with a feature on its way: phases are walked by commits, receipts and tests that are really run."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aotloop.app.ship.feature_start import FeatureOptions, begin_feature
from aotloop.core.phases.model import Phase, PhaseLoop
from aotloop.phases.project import Project
from aotloop.phases.receipts import Filed, approve, file_receipt
from aotloop.statefile.locate import PHASE_FILE
from aotloop.statefile.phases.phase_store import PhaseStore
from tests.repositories import new_repository

PLAN = "# Plan\n\n- [ ] S1: write `greet.sh`, which says hello\n- [ ] S2: document it in `README.md` (depends on S1)\n"
TESTS = "tests/acceptance/greet_test.sh"
RED_TESTS = '[ "$(sh greet.sh)" = hello ]\n'
REVIEW = "docs/review.md"

CONTENT: dict[Phase, dict[str, str]] = {
    "brainstorm": {"docs/brainstorm.md": "Say hello, or say nothing. Say hello.\n"},
    "plan": {"docs/plan.md": PLAN},
    "spec_test": {TESTS: RED_TESTS},
    "deepen": {"docs/plan.md": f"{PLAN}\nWhat if nobody is there? Say it all the same.\n"},
    "work": {"greet.sh": "echo hello\n"},
    "review": {REVIEW: "No findings.\n"},
    "fix": {"greet.sh": "printf 'hello\\n'\n"},
    "re_review": {REVIEW: "- [x] `greet.sh`: echo is not portable\n"},
    "compound": {"docs/solution.md": "printf is portable.\n"},
    "test": {"docs/report.md": "All of it passes.\n"},
    "ship": {"docs/release.md": "It says hello.\n"},
}
"""What a good agent leaves; the first file of each is the artifact."""


@dataclass
class Feature:
    root: Path
    ground: Project = field(init=False)

    def __post_init__(self) -> None:
        self.ground = Project(PhaseStore(str(self.root / PHASE_FILE)))

    @property
    def loop(self) -> PhaseLoop:
        return self.ground.store.load()

    def git(self, *words: str) -> str:
        identity = ("-c", "user.name=T", "-c", "user.email=t@localhost")
        done = subprocess.run(["git", *identity, *words], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def write(self, **files: str) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def commit(self, files: dict[str, str], message: str = "work") -> str:
        self.write(**files)
        self.git("add", "-A", "--", *files)
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def file(self, artifact: str | None = None, **given: Any) -> Filed:
        """A receipt of the present phase."""
        return file_receipt(self.ground, artifact=artifact or next(iter(CONTENT[self.loop.phase])), **given)

    def do(self, files: dict[str, str] | None = None, **given: Any) -> Filed:
        """What the phase is for, and its receipt."""
        files = files or CONTENT[self.loop.phase]
        self.commit(files, self.loop.phase)
        return self.file(next(iter(files)), **given)

    def walk_to(self, phase: Phase) -> None:
        while self.loop.phase != phase:
            before = self.loop.phase
            filed = self.do()
            if filed.loop.status == "waiting":
                filed = approve(self.ground)
            assert filed.loop.phase != before, filed.reasons


def a_feature(folder: Path, **wanted: Any) -> Feature:
    root = folder / "feature"
    (root / ".claude").mkdir(parents=True)
    feature = Feature(root)
    new_repository(root)
    feature.commit({"README.md": "# Greetings\n", ".gitignore": ".claude/\n.aot/\n__pycache__/\n"}, "begin")
    begin_feature(feature.ground.store, FeatureOptions(**{"feature": "say hello", **wanted}))
    return feature
