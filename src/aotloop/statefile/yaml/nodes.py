"""The careful reader, first half: YAML text → PyYAML's node tree, with the place of every syntax error.

Only this module calls PyYAML's parser. It refuses input that breaks a parser: text that is not UTF-8, aliases that
contain themselves, and nesting that would overflow the stack.
"""

from __future__ import annotations

from typing import Any

import yaml

from aotloop.core.findings import Path
from aotloop.errors import StateFileInvalid
from aotloop.statefile.yaml.screen import may_nest_deeply
from aotloop.statefile.yaml.syntax_errors import of_parser, syntax_error

MOST_LEVELS = 250
"""The most levels of nested lists and mappings: about a hundred groups of a checklist, and safe for the stack."""

_Loader: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MERGE_TAG = "tag:yaml.org,2002:merge"


def compose(data: bytes, first_line: int) -> yaml.Node | None:
    """The root node; None if there are only comments."""
    text = _decoded(data, first_line)
    try:
        if may_nest_deeply(data):
            _refuse_deep_nesting(text, first_line)
        root: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise of_parser(error, text, first_line) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n"), error.position - before.rfind("\n") - 1
        what = f"the character {error.character!r} is not allowed in YAML"
        raise syntax_error(what, line, column, first_line) from None
    except RecursionError:
        raise _too_deep(0, 0, first_line) from None
    return root


def pairs(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    """Keys and values, with `<<` merges applied: own keys win, then earlier sources.

    The result is stored on the node, because aliases let many nodes merge the same one. Expanding it each time would
    let a file of a few lines fill the memory.
    """
    remembered: list[tuple[yaml.Node, yaml.Node]] | None = getattr(node, "pairs", None)
    if remembered is not None:
        return remembered
    node.pairs = []  # type: ignore[attr-defined]  # what a mapping that merges itself sees of itself
    merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
    own: list[tuple[yaml.Node, yaml.Node]] = []
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode) and key.tag == MERGE_TAG:
            sources = value.value if isinstance(value, yaml.SequenceNode) else [value]
            for source in reversed(sources):
                if isinstance(source, yaml.MappingNode):
                    merged.update((str(pair[0].value), pair) for pair in pairs(source))
        else:
            own.append((key, value))
    names = {str(key.value) for key, _ in own}
    node.pairs = [pair for name, pair in merged.items() if name not in names] + own  # type: ignore[attr-defined]
    return node.pairs  # type: ignore[attr-defined,no-any-return]


def locate(root: yaml.Node | None, path: Path) -> yaml.Node | None:
    """The node at a path, or the deepest existing node on the way to it."""
    node = root
    for part in path:
        following = _child(node, part)
        if following is None:
            return node
        node = following
    return node


def _child(node: yaml.Node | None, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        if not hasattr(node, "by_key"):
            node.by_key = {str(key.value): value for key, value in pairs(node)}  # type: ignore[attr-defined]
        return node.by_key.get(str(part))  # type: ignore[attr-defined,no-any-return]
    return None


def _decoded(data: bytes, first_line: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n"), error.start - before.rfind(b"\n") - 1
        what = f"byte 0x{data[error.start]:02x} is not valid UTF-8; save the file as UTF-8"
        raise syntax_error(what, line, column, first_line) from None


def _refuse_deep_nesting(text: str, first_line: int) -> None:
    level = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            level += 1
            if level > MOST_LEVELS:
                mark: Any = event.start_mark
                raise _too_deep(mark.line, mark.column, first_line)
        elif isinstance(event, yaml.CollectionEndEvent):
            level -= 1


def _too_deep(line: int, column: int, first_line: int) -> StateFileInvalid:
    return syntax_error(f"nested deeper than {MOST_LEVELS} levels", line, column, first_line)
