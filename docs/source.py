"""The sources as syntax trees: what a name means in a module, and what a piece of text says, with … for what is only
known when it runs, (a | b) for one of two, and [a] for what may be missing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

import aotloop

UNKNOWN = "…"
PACKAGE = Path(aotloop.__file__).parent

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(msgspec.Struct, frozen=True):
    name: str
    """As in `aotloop.core.handlers.atoms`."""
    tree: ast.Module
    functions: dict[str, Function]
    """Methods too, by their bare name."""
    constants: dict[str, ast.expr]
    imported: dict[str, tuple[str, str]]
    """Where a name comes from: a module, and its name there."""

    @property
    def area(self) -> str:
        """The package below `aotloop`; of `app`, also the folder in it."""
        _, *parts = [*self.name.split("."), ""]
        return ".".join(parts[:2]) if parts[0] == "app" and len(parts) > 3 else parts[0]


class Scope(msgspec.Struct, frozen=True):
    """Where a piece of text stands: a module, the function around it, and what that one was called with."""

    module: Module
    function: Function | None = None
    arguments: Mapping[str, tuple[ast.expr, Scope]] = {}


def modules(package: Path = PACKAGE) -> dict[str, Module]:
    found = (_module(path, package) for path in sorted(package.rglob("*.py")))
    return {module.name: module for module in found}


def _module(path: Path, package: Path) -> Module:
    parts = [package.name, *path.relative_to(package).with_suffix("").parts]
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions: dict[str, Function] = {}
    imported: dict[str, tuple[str, str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, Function):
            functions[node.name] = node
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            imported |= {one.asname or one.name: (node.module, one.name) for one in node.names}
    name = ".".join(parts).removesuffix(".__init__")
    return Module(name, tree, functions, dict(_assignments(tree.body)), imported)


def _assignments(body: list[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield statement.targets[0].id, statement.value


class Source:
    def __init__(self, found: dict[str, Module]) -> None:
        self.modules = found

    def defined(self, module: Module, name: str) -> tuple[Module, str]:
        """Where a name of a module was made, across imports."""
        while name in module.imported and module.imported[name][0] in self.modules:
            where, name = module.imported[name]
            module = self.modules[where]
        return module, name

    def text(self, node: ast.expr | None, scope: Scope) -> str:
        match node:
            case None | ast.Constant(value=None):
                said = ""
            case ast.Constant(value=value):
                said = str(value)
            case ast.JoinedStr(values=values):
                said = _joined(self.text(one, scope) for one in values)
            case ast.FormattedValue(value=value):
                said = self.text(value, scope)
            case ast.BinOp(left=left, op=ast.Add(), right=right) if _is_text(left) or _is_text(right):
                said = _joined([self.text(left, scope), self.text(right, scope)])
            case ast.IfExp(body=body, orelse=orelse):
                said = _either(self.text(body, scope), self.text(orelse, scope))
            case ast.Name(id=name):
                said = self._named(name, scope)
            case _:
                said = UNKNOWN
        return said

    def _named(self, name: str, scope: Scope) -> str:
        if name in scope.arguments:
            return self.text(*scope.arguments[name])
        if scope.function is not None:
            values = [value for made, value in _assigned_in(scope.function) if made == name]
            if values or name in _parameters(scope.function):
                is_known = len(values) == 1 and name not in _parameters(scope.function) | _mentioned(values[0])
                return self.text(values[0], scope) if is_known else UNKNOWN
        module, there = self.defined(scope.module, name)
        constant = module.constants.get(there)
        return self.text(constant, Scope(module)) if constant is not None else UNKNOWN


def bound(function: Function, call: ast.Call, scope: Scope) -> dict[str, tuple[ast.expr, Scope]]:
    """What the parameters of a function are in one call; for those left out, their defaults."""
    positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    defaults = dict(zip(reversed(positional), reversed(function.args.defaults), strict=False))
    named = zip((argument.arg for argument in function.args.kwonlyargs), function.args.kw_defaults, strict=True)
    defaults |= {name: value for name, value in named if value is not None}
    given = positional[1:] if positional[:1] == ["self"] else positional
    values = dict(zip(given, call.args, strict=False)) | {one.arg: one.value for one in call.keywords if one.arg}
    return {name: (value, scope) for name, value in {**defaults, **values}.items()}


def _assigned_in(function: Function) -> Iterator[tuple[str, ast.expr]]:
    """A name that is assigned piece by piece (+=, a loop, `with … as`) is not known; nor is one assigned twice."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AugAssign | ast.NamedExpr) and isinstance(node.target, ast.Name):
            yield node.target.id, node.value
            yield node.target.id, node.value


def _is_text(expression: ast.expr) -> bool:
    return isinstance(expression, ast.JoinedStr) or isinstance(getattr(expression, "value", None), str)


def _mentioned(expression: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}


def _parameters(function: Function) -> set[str]:
    return {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}


def _joined(parts: Iterator[str] | list[str]) -> str:
    return re.sub(f"{UNKNOWN}+", UNKNOWN, "".join(parts))


def _either(one: str, other: str) -> str:
    if one == other or not (one and other):
        return one if one == other else f"[{one or other}]"
    return UNKNOWN if UNKNOWN in (one, other) else f"({one} | {other})"
