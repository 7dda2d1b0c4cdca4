"""What an agent is told that goes on in its conversation: its last task is over, and which files others changed.

All else is in the prompt of the task itself, which is whole: a client may have shortened what was said before.
"""

from __future__ import annotations

from collections.abc import Sequence

from aotloop.agents.wording import one_line

_MOST_FILES = 50
_LONGEST_PATH = 200
_OVER = (
    "Your last task is over, and its result was taken. What follows is another task, told in full. "
    "Your folder was put to the newest state of the branch, in which others may have changed files."
)
_UNKNOWN = "Read a file again before you rely on what you remember of it."
_SAME = "Every file in it is as you left it."
_CHANGED = "These are not as you left them; read them again before you rely on what you remember of them:"


def follow_up(prompt: str, changed: Sequence[str] | None) -> str:
    """`changed`: files that are not as the last attempt left them; None: that is not known."""
    return f"{_OVER} {_words(changed)}\n\n{prompt}"


def _words(changed: Sequence[str] | None) -> str:
    if changed is None:
        return _UNKNOWN
    if not changed:
        return _SAME
    shown = [f"> {one_line(path, _LONGEST_PATH)}" for path in changed[:_MOST_FILES]]
    more = [f"> and {len(changed) - _MOST_FILES} more"] if len(changed) > _MOST_FILES else []
    return "\n".join((_CHANGED, *shown, *more))
