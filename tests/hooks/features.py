"""Features that a session ships, in a repository of their own."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from aotloop.core.phases.model import Artifacts, PhaseLoop, Receipt
from aotloop.statefile.phases.phase_store import PhaseStore
from tests.git.checkouts import sh, write
from tests.hooks.situations import SESSION
from tests.repositories import new_repository

TESTS = "tests/acceptance/hello_test.sh"
LONG_AGO = "2026-01-01T00:00:00Z"
PLAN = "# Plan\n\n- [ ] S1: write the greeting in `hello.txt`\n- [ ] S2: document it in `README.md` (depends on S1)\n"
DOCUMENTS = {
    "brainstorm": ("docs/brainstorm.md", "A file that greets.\n"),
    "plan": ("docs/plan.md", PLAN),
    "spec_test": (TESTS, "test -f hello.txt\n"),
    "deepen": ("docs/plan.md", PLAN.replace("greeting", "friendly greeting")),
    "work": ("hello.txt", "hello\n"),
    "review": ("docs/review.md", "- [ ] `hello.txt`: nobody is named\n"),
    "fix": ("hello.txt", "hello, you\n"),
    "re_review": ("docs/review.md", "- [x] `hello.txt`: nobody is named\n"),
    "compound": ("docs/solution.md", "Name whom you greet.\n"),
    "test": ("docs/report.md", "All of it passes.\n"),
    "ship": ("docs/release.md", "Greetings.\n"),
}
"""What each phase of a feature produces, if it does as it should."""


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def a_feature(**more: Any) -> PhaseLoop:
    """Driven by our session; it has been in its phase since long ago, unless `more` says otherwise."""
    given = {
        "feature": "Greet people",
        "phase": "plan",
        "started_at": LONG_AGO,
        "last_updated": LONG_AGO,
        "phase_started_at": LONG_AGO,
        "session_id": SESSION,
        "no_graph": True,
        **more,
    }
    return PhaseLoop(**given)


def shipping(project: Path, **more: Any) -> PhaseStore:
    """With that feature on file, in a repository with one commit."""
    if not (project / ".git").exists():
        repository(project)
    store = PhaseStore(str(project / ".claude" / "autonomous-loop.json"))
    store.create(a_feature(**more))
    return store


def repository(project: Path) -> None:
    new_repository(project)
    write(project, {"README.md": "# Hello\n"})
    committed(project, "begin")


def committed(project: Path, subject: str) -> str:
    sh(project, "add", "-A", "--", ".", ":!.claude")
    sh(project, "commit", "-q", "--allow-empty", "-m", subject)
    return sh(project, "rev-parse", "HEAD").strip()


def with_tests(project: Path, content: str = "test -f hello.txt\n") -> dict[str, Any]:
    """What a loop has once the acceptance tests were filed."""
    write(project, {TESTS: content})
    receipt = Receipt(phase="spec_test", artifact=TESTS, git_sha=committed(project, "tests"), timestamp=now())
    return {"receipts": (receipt,), "artifacts": Artifacts(acceptance_tests_file=TESTS)}
