"""Checks whether this machine can confine agents: by our own rules, and by the sandboxes of the clients.

Loops run without a sandbox too. Then a change outside the worktree is detected only afterwards.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

from aotloop.cli.doctor.diagnosis import Finding
from aotloop.errors import Unavailable
from aotloop.process import blocking_run, sandbox
from aotloop.process.own_programs import is_own
from aotloop.process.spec import Ending, Limits, ProcessSpec

ABOUT = "sandbox"
_PATIENCE = 5.0
_USUAL = sandbox.Policy()
_SEATBELT = "/usr/bin/sandbox-exec"


def sandbox_findings(policy: sandbox.Policy | None = _USUAL) -> Iterator[Finding]:
    """`policy`: the person's settings of the fence; None: it is switched off."""
    yield _fence(policy)
    yield _codex()
    yield _claude()


def _fence(policy: sandbox.Policy | None) -> Finding:
    subject = "the checkout"
    if policy is None:
        result = "not protected: your settings switch the fence off; changes are detected only afterwards"
        return Finding(
            about=ABOUT, subject=subject, result=result, ok=None, fix='Set sandbox = "auto" and confine = "auto".'
        )
    try:
        force = sandbox.in_force(policy)
    except Unavailable as error:
        return Finding(about=ABOUT, subject=subject, result=error.message, ok=False, fix=error.hint)
    if force.engine == "off":
        result = f"not protected ({force.reason}): changes outside the worktree are detected only afterwards"
        help_ = "Install bubblewrap, or use Linux 5.19 or newer with Landlock switched on."
        return Finding(about=ABOUT, subject=subject, result=result, ok=None, fix=help_)
    why = f" ({force.reason})" if force.reason else ""
    result = f"protected from agents in worktrees by {_NAMES[force.engine]}{why}; not covered: {'; '.join(force.gaps)}"
    is_strong = force.engine != "landlock"
    fix = None if is_strong else "Install bubblewrap (and allow user namespaces): it also protects your home."
    return Finding(about=ABOUT, subject=subject, result=result, ok=True if is_strong else None, fix=fix)


_NAMES = {"bwrap": "bubblewrap", "srt": "srt", "landlock": "the kernel (Landlock)"}


def _codex() -> Finding:
    subject = "commands of Codex"
    if sys.platform == "darwin":
        return _seatbelt(subject)
    can = _can_make_namespaces()
    if can:
        return Finding(
            about=ABOUT, subject=subject, result="confined by its own bubblewrap: namespaces are available here"
        )
    if can is None:
        result = "unknown: aot cannot test whether namespaces are available here, which Codex needs to confine them"
        return Finding(
            about=ABOUT, subject=subject, result=result, ok=None, fix="Install util-linux, which has `unshare`."
        )
    result = "cannot be confined: namespaces are not available here, so Codex cannot run commands in its sandbox"
    fix = (
        "Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu"
        " kernel.apparmor_restrict_unprivileged_userns=0; in a container, use a seccomp profile that permits them."
    )
    return Finding(about=ABOUT, subject=subject, result=result, ok=None, fix=fix)


def _claude() -> Finding:
    """The sandbox is off unless the settings of a repository switch it on."""
    subject = "commands of Claude Code"
    if sys.platform == "darwin":
        return _seatbelt(subject)
    missing = [name for name in ("bwrap", "socat") if shutil.which(name) is None]
    if not missing:
        return Finding(about=ABOUT, subject=subject, result="can be confined (bwrap, socat) if its settings ask for it")
    result = f"cannot be confined by its own sandbox, which needs {' and '.join(missing)}"
    fix = "Install bubblewrap and socat, if your own settings for Claude Code (operator_settings) ask for that sandbox."
    return Finding(about=ABOUT, subject=subject, result=result, ok=None, fix=fix)


def _seatbelt(subject: str) -> Finding:
    if shutil.which(_SEATBELT) is not None:
        return Finding(about=ABOUT, subject=subject, result=f"can be confined by macOS ({_SEATBELT})")
    return Finding(about=ABOUT, subject=subject, result=f"cannot be confined: there is no {_SEATBELT}", ok=None)


def _can_make_namespaces() -> bool | None:
    """Tries it, because many settings can forbid it. None: it cannot be tried."""
    program = shutil.which("unshare")
    if program is None or not is_own(program):
        return None
    argv = (program, "--user", "--map-root-user", "--mount", "--net", "true")
    spec = ProcessSpec(argv=argv, env=dict(os.environ), limits=Limits(total=_PATIENCE), ending=Ending(clears=False))
    try:
        completed = blocking_run.run(spec)
    except OSError:
        return None
    return completed.status == 0 if completed.status is not None else None
