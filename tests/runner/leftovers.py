"""What a run may not leave behind, however it ended."""

from __future__ import annotations

import os
from pathlib import Path

from tests.runner.projects import Project, processes_with

KEPT = "refs/aot/attempts/"


def leftovers(project: Project, branches: tuple[str, ...] = ("main",)) -> list[str]:
    """Empty, if everything is as it should be when nobody runs the loop any more."""
    found = [f"process {pid}" for pid in processes_with(f"AOT_RUN_ID={project.loop.control.run_id}\0")]
    caches = Path(os.environ["HOME"], ".cache", "aot")
    found += [str(path) for path in caches.rglob("*")]
    lease = project.state_file.with_name(f".{project.state_file.name}.run")
    found += [str(lease)] if lease.exists() else []
    if not project.has_git:
        return found
    found += project.worktrees()
    refs = project.git("for-each-ref", "--format=%(refname)").splitlines()
    allowed = {f"refs/heads/{name}" for name in branches}
    found += [ref for ref in refs if ref not in allowed and not ref.startswith((KEPT, "refs/tags/"))]
    private = {path.name for path in (project.root / ".git").iterdir()}
    torn = ("index.lock", "HEAD.lock", "aot-landing-index", "aot-mending-index", "worktrees", "aot")
    return found + [f".git/{name}" for name in private if name in torn or name.startswith(("aot-claim", "aot-removed"))]


def kept(project: Project) -> list[str]:
    """The attempts of which something is kept, by name."""
    return project.git("for-each-ref", "--format=%(refname)", KEPT).replace(KEPT, "").split()


def trailers(project: Project, key: str, commit: str = "HEAD") -> str:
    return project.git("log", "-1", f"--format=%(trailers:key={key},valueonly)", commit).strip()
