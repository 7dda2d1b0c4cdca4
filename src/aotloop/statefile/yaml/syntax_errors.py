"""Errors of YAML's syntax in plain words: what is wrong, where it began, and what helps.

The parser says what it expected next ("found character that cannot start any token"). A person who mistyped a line
wants to know which of the few usual mistakes it is. What is not in the table keeps the parser's words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import yaml

from aotloop.core.findings import Finding
from aotloop.errors import StateFileInvalid

_LOST = (
    "an entry is expected here; look for a wrong indentation, and for a quote or a bracket too many, "
    "in this line and above it"
)


def syntax_error(what: str, line: int, column: int, first_line: int) -> StateFileInvalid:
    finding = Finding("error", (), f"not readable as YAML: {what}", line=line + first_line, column=column + 1)
    return StateFileInvalid(str(finding), [finding])


def of_parser(error: yaml.MarkedYAMLError, text: str, first_line: int) -> StateFileInvalid:
    """`first_line`: the line of the file with which `text` begins."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark is not None else (0, 0)
    began = (error.context_mark.line if error.context_mark is not None else line) + first_line
    words = _WORDS.get(error.problem or "")
    if words is None:
        what = ", ".join(part for part in (error.context, error.problem) if part)
    else:
        lines = text.splitlines()
        rest = lines[line][column:] if line < len(lines) else ""
        what = words(rest[:1], began)
    return syntax_error(what, line, column, first_line)


def _beginning(character: str, _began: int) -> str:
    if character == "\t":
        return "a tab; YAML is indented with spaces"
    return f"a value cannot begin with {character}; put it in quotes"


def _unclosed(opening: str, closing: str) -> Callable[[str, int], str]:
    return lambda _, began: f"a comma or the {closing} that ends the {opening} of line {began} is missing before this"


_WORDS: Mapping[str, Callable[[str, int], str]] = MappingProxyType(
    {
        "found character that cannot start any token": _beginning,
        "did not find expected ',' or ']'": _unclosed("[", "]"),
        "did not find expected ',' or '}'": _unclosed("{", "}"),
        "found unexpected end of stream": lambda _, began: f"the quote that begins in line {began} does not end",
        "mapping values are not allowed in this context": lambda _, __: (
            "a colon cannot be here; put a value that has `: ` in quotes, or correct the indentation"
        ),
        "block sequence entries are not allowed in this context": lambda _, __: (
            "a list entry `- ` cannot be here; it begins a line of its own"
        ),
        "did not find expected '-' indicator": lambda _, __: _LOST,
        "did not find expected key": lambda _, __: _LOST,
        "found undefined alias": lambda _, __: "a value that begins with * is an alias; put it in quotes",
    }
)
