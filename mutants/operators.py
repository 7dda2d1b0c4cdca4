"""The ways to change one place of a source. Each is an edit of its text, so that all else stays as it is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from mutants.source import Function, Place, Source

Edit = tuple[tuple[int, int, bytes], ...]
"""Places in the text, and what stands there instead."""

COMPARISONS: dict[type[ast.cmpop], tuple[bytes, tuple[bytes, ...]]] = {
    ast.Gt: (b">", (b">=", b"<=")),
    ast.GtE: (b">=", (b">", b"<")),
    ast.Lt: (b"<", (b"<=", b">=")),
    ast.LtE: (b"<=", (b"<", b">")),
    ast.Eq: (b"==", (b"!=",)),
    ast.NotEq: (b"!=", (b"==",)),
    ast.Is: (b"is", (b"is not",)),
    ast.IsNot: (b"is not", (b"is",)),
    ast.In: (b"in", (b"not in",)),
    ast.NotIn: (b"not in", (b"in",)),
}
"""How each is written, and what it becomes: one step beside, and its opposite."""
ARITHMETIC: dict[type[ast.operator], tuple[bytes, bytes]] = {
    ast.Add: (b"+", b"-"),
    ast.Sub: (b"-", b"+"),
    ast.Mult: (b"*", b"+"),
    ast.BitOr: (b"|", b"&"),
    ast.BitAnd: (b"&", b"|"),
}
NAMES = {"min": b"max", "max": b"min", "any": b"all", "all": b"any"}
DELETED = ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Raise | ast.Delete
FILLED = b'"mutant"'


def edits_of(source: Source, place: Place) -> Iterator[Edit]:
    """Some may come twice: the opposite of a comparison is also the negation of a condition."""
    node = place.node
    if isinstance(node, ast.stmt):
        yield from _of_statement(source, node, place.function)
    elif isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        yield from _of_expression(source, node, place.parent)
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            start, end = source.span_with_brackets(test)
            yield ((source.text.rindex(b"if", 0, start), end, b""),)
            yield from _negated(source, test)


def _of_statement(source: Source, node: ast.stmt, function: Function | None) -> Iterator[Edit]:
    if function is not None and isinstance(node, DELETED):
        yield ((*source.span(node), b"pass"),)
    match node:
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            is_bool = function is not None and isinstance(function.returns, ast.Name) and function.returns.id == "bool"
            yield from _negated(source, value) if is_bool else [((*source.span(value), b"None"),)]
        case ast.Break():
            yield ((*source.span(node), b"continue"),)
        case ast.Continue():
            yield ((*source.span(node), b"break"),)
    if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield _operator(source, source.span(node.target)[1], source.span(node.value)[0], *ARITHMETIC[type(node.op)])
    if isinstance(node, ast.If | ast.While):
        yield from _negated(source, node.test)


def _of_expression(source: Source, node: ast.expr, parent: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Compare():
            yield from _compared(source, node)
        case ast.BoolOp():
            yield from _joined(source, node)
        case ast.IfExp():
            yield from _negated(source, node.test)
        case ast.UnaryOp(op=ast.Not()):
            yield from _negated(source, node)
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            yield _operator(source, source.span(node.left)[1], source.span(node.right)[0], *ARITHMETIC[type(node.op)])
        case ast.Call(func=ast.Name(id=name)) if name in NAMES:
            yield ((*source.span(node.func), NAMES[name]),)
        case ast.Call(func=ast.Name(id="sorted")):
            end = source.span(node)[1]
            yield ((end, end, b"[::-1]"),)
        case ast.Constant():
            yield from (((*source.span(node), text),) for text in _other_constants(node.value))
        case ast.Tuple() if not isinstance(parent, ast.Return | ast.Assign | ast.Subscript):
            yield ((*source.span(node), b"()" if node.elts else b"(" + FILLED + b",)"),)


def _compared(source: Source, node: ast.Compare) -> Iterator[Edit]:
    operands = [node.left, *node.comparators]
    for operator, left, right in zip(node.ops, operands, operands[1:], strict=False):
        written, others = COMPARISONS[type(operator)]
        for other in others:
            yield _operator(source, source.span(left)[1], source.span(right)[0], written, other)


def _joined(source: Source, node: ast.BoolOp) -> Iterator[Edit]:
    """`and` is `or`, or the other way round; and each operand is left out."""
    written, other = (b"and", b"or") if isinstance(node.op, ast.And) else (b"or", b"and")
    gaps = [
        (source.span(left)[1], source.span(right)[0]) for left, right in zip(node.values, node.values[1:], strict=False)
    ]
    yield tuple(_operator(source, start, end, written, other)[0] for start, end in gaps)
    spans = [source.span_with_brackets(value) for value in node.values]
    for left_out in range(len(spans)):
        kept = [source.text[start:end] for number, (start, end) in enumerate(spans) if number != left_out]
        yield ((spans[0][0], spans[-1][1], (b" " + written + b" ").join(kept)),)


def _negated(source: Source, test: ast.expr) -> Iterator[Edit]:
    match test:
        case ast.Compare(ops=[operator]):
            written, others = COMPARISONS[type(operator)]
            yield _operator(source, source.span(test.left)[1], source.span(test.comparators[0])[0], written, others[-1])
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            start, end = source.span_with_brackets(operand)
            yield ((*source.span(test), source.text[start:end]),)
        case ast.Constant():
            yield from (((*source.span(test), text),) for text in _other_constants(test.value))
        case _:
            start, end = source.span(test)
            yield ((start, end, b"not (" + source.text[start:end] + b")"),)


def _other_constants(value: object) -> list[bytes]:
    match value:
        case bool():
            return [str(not value).encode()]
        case int() | float():
            return [repr(value + 1).encode(), repr(value - 1).encode()]
        case "":
            return [FILLED]
        case str() if not re.search(r"[\s…]", value):
            return [b'""']
    return []


def _operator(source: Source, start: int, end: int, written: bytes, other: bytes) -> Edit:
    """Between two operands there is the operator, and perhaps brackets and line ends."""
    gap = re.sub(rb"\s+", b" ", source.text[start:end])
    assert gap.count(written) == 1, gap
    return ((start, end, gap.replace(written, other)),)
