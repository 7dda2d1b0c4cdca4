"""Checks whether this machine can confine agents: by our own rules, and by the sandboxes of the clients.

Loops run without a sandbox too. Then a change outside the worktree is detected only afterwards.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

from aotloop.cli.doctor.diagnosis import Finding
from aotloop.process import blocking_run, sandbox
from aotloop.process.spec import Ending, Limits, ProcessSpec

ABOUT = "sandbox"
_PATIENCE = 5.0
_SEATBELT = "/usr/bin/sandbox-exec"


def sandbox_findings() -> Iterator[Finding]:
    yield _landlock()
    yield _codex()
    yield _claude()


def _landlock() -> Finding:
    what = "the checkout"
    if sandbox.is_possible():
        return Finding(about=ABOUT, what=what, said="the kernel (Landlock) protects it from agents in worktrees")
    said = "not protected by the kernel (no Landlock): changes outside the worktree are detected only afterwards"
    fix = "Use Linux 5.19 or newer with Landlock switched on."
    return Finding(about=ABOUT, what=what, said=said, ok=None, fix=fix)


def _codex() -> Finding:
    what = "commands of Codex"
    if sys.platform == "darwin":
        return _seatbelt(what)
    can = _can_make_namespaces()
    if can:
        return Finding(about=ABOUT, what=what, said="confined by its own bubblewrap: namespaces are available here")
    if can is None:
        said = "unknown: aot cannot test whether namespaces are available here, which Codex needs to confine them"
        return Finding(about=ABOUT, what=what, said=said, ok=None, fix="Install util-linux, which has `unshare`.")
    said = "cannot be confined: namespaces are not available here, so Codex cannot run commands in its sandbox"
    fix = (
        "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu"
        " kernel.apparmor_restrict_unprivileged_userns=0; in a container, use a seccomp profile that permits them."
    )
    return Finding(about=ABOUT, what=what, said=said, ok=None, fix=fix)


def _claude() -> Finding:
    """The sandbox is off unless the settings of a repository switch it on."""
    what = "commands of Claude Code"
    if sys.platform == "darwin":
        return _seatbelt(what)
    missing = [name for name in ("bwrap", "socat") if shutil.which(name) is None]
    if not missing:
        return Finding(about=ABOUT, what=what, said="can be confined (bwrap, socat) if its settings ask for it")
    said = f"cannot be confined by its own sandbox, which needs {' and '.join(missing)}"
    fix = "Install bubblewrap and socat, if your own settings for Claude Code (operator_settings) ask for that sandbox."
    return Finding(about=ABOUT, what=what, said=said, ok=None, fix=fix)


def _seatbelt(what: str) -> Finding:
    if shutil.which(_SEATBELT) is not None:
        return Finding(about=ABOUT, what=what, said=f"can be confined by macOS ({_SEATBELT})")
    return Finding(about=ABOUT, what=what, said=f"cannot be confined: there is no {_SEATBELT}", ok=None)


def _can_make_namespaces() -> bool | None:
    """Tries it, because many settings can forbid it. None: it cannot be tried."""
    program = shutil.which("unshare")
    if program is None:
        return None
    argv = (program, "--user", "--map-root-user", "--mount", "--net", "true")
    spec = ProcessSpec(argv=argv, env=dict(os.environ), limits=Limits(total=_PATIENCE), ending=Ending(clears=False))
    try:
        completed = blocking_run.run(spec)
    except OSError:
        return None
    return completed.status == 0 if completed.status is not None else None
