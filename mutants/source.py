"""A source file as a tree whose nodes know their place in the text; and the parts that are not mutated.

Not mutated are docstrings, annotations, type aliases, texts for people (all text inside a `raise` or an f-string,
strings with a blank in them), and values without an effect by construction (`strict` of `zip`; `gc` of a Struct, and
`kw_only` of one without fields; the empty default of `get`, which no code reads).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

SAYING = frozenset({"error", "illegal", "warning"})
"""Functions whose strings are for people."""
WITHOUT_A_DIFFERENCE = frozenset({"gc", "strict"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Place(NamedTuple):
    node: ast.AST
    parent: ast.AST
    function: Function | None
    """In whose body it is; None: it is done on import."""
    outermost: str | None
    """The name of the function around all functions it is in, with that of its class."""


class Source:
    def __init__(self, text: bytes) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self._line_starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno, node.end_col_offset
        assert end_line is not None
        assert end_column is not None
        return self._line_starts[node.lineno - 1] + node.col_offset, self._line_starts[end_line - 1] + end_column

    def span_with_brackets(self, node: ast.expr) -> tuple[int, int]:
        """As `span`, with the round brackets around it. Only for operands: brackets of a call look the same."""
        start, end = self.span(node)
        while True:
            before, after = self.text[:start].rstrip(), self.text[end:]
            blank = len(after) - len(after.lstrip())
            if not before.endswith(b"(") or not after.lstrip().startswith(b")"):
                return start, end
            start, end = len(before) - 1, end + blank + 1

    def lines(self, start: int, end: int) -> tuple[int, int]:
        """From the beginning of the line of `start` to the end of the line of `end`."""
        last = self.text.find(b"\n", end)
        return self.text.rfind(b"\n", 0, start) + 1, last if last >= 0 else len(self.text)

    def places(self) -> Iterator[Place]:
        """Every node that may be mutated."""
        yield from _within(self.tree, None, None, "")


def _within(parent: ast.AST, function: Function | None, outermost: str | None, prefix: str) -> Iterator[Place]:
    if isinstance(parent, ast.ClassDef):
        prefix += f"{parent.name}."
    for field, value in ast.iter_fields(parent):
        for node in value if isinstance(value, list) else [value]:
            if not isinstance(node, ast.AST) or _is_left_alone(parent, field, node):
                continue
            if isinstance(parent, Function) and field == "body":
                place = Place(node, parent, parent, outermost or prefix + parent.name)
            else:
                place = Place(node, parent, function, outermost)
            yield place
            yield from _within(node, place.function, place.outermost, prefix)


def _is_left_alone(parent: ast.AST, field: str, node: ast.AST) -> bool:
    if field in {"annotation", "returns", "decorator_list", "bases"}:
        return True
    return _is_for_people(parent, node) or _makes_no_difference(parent, node)


def _is_for_people(parent: ast.AST, node: ast.AST) -> bool:
    match parent, node:
        case _, ast.JoinedStr() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Raise() | ast.ExceptHandler(), ast.expr():
            return True
        case ast.Call(func=ast.Name(id=name)), ast.Constant(value=str()):
            return name in SAYING
    return False


def _makes_no_difference(parent: ast.AST, node: ast.AST) -> bool:
    match parent, node:
        case _, ast.Import() | ast.ImportFrom() | ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Module(), ast.Assign(targets=[ast.Name(id=name)]):
            return name[:1].isupper() and not name.isupper()
        case ast.Call(func=ast.Attribute(attr="get")), ast.Tuple(elts=[]):
            return True
        case ast.ClassDef(body=body), ast.keyword(arg="kw_only"):
            return not any(isinstance(one, ast.AnnAssign) for one in body)
        case _, ast.keyword(arg=str(name)):
            return name in WITHOUT_A_DIFFERENCE
    return False
