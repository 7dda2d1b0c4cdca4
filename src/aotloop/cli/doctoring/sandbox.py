"""Whether this machine can confine what agents do: by our own rules, and by those that the clients bring along.

Nothing of it is needed to run a loop. Without it, what an agent does where it should not is found out afterwards.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator

from aotloop.agents import confinement
from aotloop.cli.doctoring.findings import Finding

ABOUT = "sandbox"
_PATIENCE = 5.0
_SEATBELT = "/usr/bin/sandbox-exec"


def sandbox_findings() -> Iterator[Finding]:
    yield _landlock()
    yield _codex()
    yield _claude()


def _landlock() -> Finding:
    what = "the checkout"
    if confinement.is_possible():
        return Finding(about=ABOUT, what=what, said="closed to agents in worktrees by the kernel (Landlock)")
    said = "not closed by the kernel (no Landlock): what an agent changes outside of its worktree is noticed afterwards"
    fix = "Linux 5.19 or newer can, unless its Landlock is switched off."
    return Finding(about=ABOUT, what=what, said=said, ok=None, fix=fix)


def _codex() -> Finding:
    what = "commands of Codex"
    if sys.platform == "darwin":
        return _seatbelt(what)
    can = _can_make_namespaces()
    if can:
        return Finding(about=ABOUT, what=what, said="confined by its own bubblewrap: namespaces can be made here")
    if can is None:
        said = "it cannot be told whether namespaces can be made here, by which Codex confines them"
        return Finding(about=ABOUT, what=what, said=said, ok=None, fix="Install util-linux, which has `unshare`.")
    said = "cannot be confined: no namespaces can be made here, so that in its sandbox Codex can run none"
    fix = (
        "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu"
        " kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that permits them."
    )
    return Finding(about=ABOUT, what=what, said=said, ok=None, fix=fix)


def _claude() -> Finding:
    """It is off unless a repository's settings switch it on."""
    what = "commands of Claude Code"
    if sys.platform == "darwin":
        return _seatbelt(what)
    missing = [name for name in ("bwrap", "socat") if shutil.which(name) is None]
    if not missing:
        return Finding(about=ABOUT, what=what, said="can be confined (bwrap, socat), where its settings ask for it")
    said = f"cannot be confined by its own sandbox, which needs {' and '.join(missing)}"
    fix = "Install bubblewrap and socat, if your own settings for Claude Code (operator_settings) ask for that sandbox."
    return Finding(about=ABOUT, what=what, said=said, ok=None, fix=fix)


def _seatbelt(what: str) -> Finding:
    if shutil.which(_SEATBELT) is not None:
        return Finding(about=ABOUT, what=what, said=f"can be confined by macOS ({_SEATBELT})")
    return Finding(about=ABOUT, what=what, said=f"cannot be confined: there is no {_SEATBELT}", ok=None)


def _can_make_namespaces() -> bool | None:
    """Tried, not guessed: there are too many places in which it can be forbidden. None: cannot be tried."""
    program = shutil.which("unshare")
    if program is None:
        return None
    words = [program, "--user", "--map-root-user", "--mount", "--net", "true"]
    try:
        done = subprocess.run(words, capture_output=True, check=False, timeout=_PATIENCE)  # noqa: S603 - ours
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.returncode == 0
