"""What only the client needs, its keys above all, its commands do not see: a script that it runs before each of them
takes those variables away.

So a model that looks at the environment tells no secret. One that means to can still read what its parent was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from aotloop.agents.contract import Assignment
from aotloop.agents.environment import allowed
from aotloop.errors import Unavailable

VARIABLE = "CLAUDE_ENV_FILE"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def script_of(assignment: Assignment) -> Path:
    return assignment.scratch / "environment.sh"


def hide(assignment: Assignment, env: Mapping[str, str], own: Iterable[str], pass_env: tuple[str, ...]) -> None:
    """`own`: what the client gets besides other agents. What the operator passes on explicitly stays.

    To be called when the attempt's own folder is there. Raises Unavailable.
    """
    seen = {*allowed(env, pass_env), *assignment.env}
    names = sorted(name for name in {*allowed(env, own)} - seen if _NAME.fullmatch(name))
    try:
        script_of(assignment).write_text(f"unset {' '.join(names)}\n" if names else "")
    except OSError as error:
        where = script_of(assignment)
        raise Unavailable(f"the client cannot be given a script of its own: {where}: {error.strerror}") from error
