"""The follow-up prompt in a conversation: its last task is over, and these files were changed by others.

The prompt of the task itself is complete: a client may have shortened the earlier messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from aotloop.text.shorten import one_line

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
    """`changed`: files that differ from the last attempt's; None: unknown."""
    return f"{_OVER} {_words(changed)}\n\n{prompt}"


def _words(changed: Sequence[str] | None) -> str:
    if changed is None:
        return _UNKNOWN
    if not changed:
        return _SAME
    shown = [f"> {one_line(path, _LONGEST_PATH)}" for path in changed[:_MOST_FILES]]
    more = [f"> and {len(changed) - _MOST_FILES} more"] if len(changed) > _MOST_FILES else []
    return "\n".join((_CHANGED, *shown, *more))
