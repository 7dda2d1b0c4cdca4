"""Where Claude Code is: where the configuration says, else on PATH, else in the package `claude_agent_sdk`."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from aotloop.errors import Unavailable

NAME = "claude"
_PACKAGE = "claude_agent_sdk"


def find_program(configured: str | None) -> str:
    """Raises Unavailable."""
    if configured is not None:
        is_path = "/" in configured
        found = shutil.which(Path(configured).expanduser().absolute() if is_path else configured)
        if found is None:
            raise Unavailable(
                f"there is no program {configured}", hint="Correct `program` of the agent in your configuration."
            )
    else:
        found = shutil.which(NAME) or _carried()
        if found is None:
            raise Unavailable(
                "Claude Code is not installed",
                hint=f"Install it with: pip install 'aotloop[{NAME}]', or put `{NAME}` on your PATH.",
            )
    return str(Path(found).absolute())  # it is started in another folder


def is_carried(program: str) -> bool:
    """Whether it is the one of the package."""
    carried = _carried()
    return carried is not None and str(Path(carried).absolute()) == program


def _carried() -> str | None:
    """The package is looked for, not loaded."""
    package = find_spec(_PACKAGE)
    if package is None or package.origin is None:
        return None
    return shutil.which(Path(package.origin).parent / "_bundled" / NAME)
