"""The short prompt, for small models: the atom, what decides, its files, and no more than three lines of a failure.

Beside the atom's own text it has at most 250 tokens, no schema and no roles. What the agent's process adds (tools, the
form of the answer) comes on top of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from aotloop.agents.prompts.check_words import check_words
from aotloop.agents.prompts.wordings import LONGEST_DESCRIPTION, reworded
from aotloop.core.checks.checklist import check_of
from aotloop.core.context import Context
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut, one_line

Style = Literal["full", "short"]
STYLES: tuple[str, ...] = get_args(Style)

MOST_BYTES = 800
"""Of all that is not the atom's own text: fewer than 250 tokens."""
FAILURE_LINES = 3
_LINE = 90
_MOST_RESULTS = 3


def write_short_prompt(context: Context, instructions: str | None = None) -> str:
    atom = context.atom
    description = reworded(atom.description, atom.failures)
    sections = [cut(plain(description), LONGEST_DESCRIPTION)]
    room = MOST_BYTES - _size(description) + _size(atom.description)
    for section in _besides(context, instructions):
        size = _size(section) + 2
        if size <= room:
            sections.append(section)
            room -= size
    return "\n\n".join(sections) + "\n"


def _besides(context: Context, instructions: str | None) -> Iterator[str]:
    """The most important section first."""
    check = check_of(context.atom, context.objective.base_case)
    if check is not None:
        yield "It is done when:\n" + _short_lines("\n".join(check_words(check)), 3)
    if context.objective.protect:
        yield f"Do not change: {one_line(', '.join(context.objective.protect), _LINE)}"
    if context.failures and context.atom.failures:
        yield f"An earlier attempt failed:\n{_short_lines(context.failures[-1], FAILURE_LINES)}"
    if instructions is not None:
        yield one_line(instructions, 2 * _LINE)
    for name, binding in list(context.results.items())[:_MOST_RESULTS]:
        yield f"Done before, by {one_line(name, 20)}: {one_line(binding.summary, _LINE)}"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _short_lines(text: str, most: int) -> str:
    lines = [line for line in plain(text).split("\n") if line.strip()]
    return "\n".join(one_line(line, _LINE) for line in lines[:most])
