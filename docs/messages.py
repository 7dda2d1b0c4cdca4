"""Every message that ends a command and every reason to stop, as the sources have them.

An error is made by calling a class of the tree in errors.py, or a function that says it returns one; then what it was
called with stands in its place.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

import click
import msgspec
from docs.source import UNKNOWN, Function, Module, Scope, Source, bound, modules

from aotloop import errors
from aotloop.scripts.arguments import UsageError

ERRORS = (errors.AotError, click.ClickException, UsageError)
STOPS = ("limit: ", "stalled: ", "exhausted: ", "blocked: ", "user: ", "error: ")
ELSEWHERE = {"agents", "workspace"}
"""What begins like a reason to stop there is what other programs say."""


class Message(msgspec.Struct, frozen=True, order=True):
    area: str
    text: str
    hint: str = ""


class Reader:
    def __init__(self, found: dict[str, Module] | None = None) -> None:
        self.source = Source(found if found is not None else modules())
        self._types = self._derived({name for kind in ERRORS for name in _names_of(kind)})
        self._makers: dict[str, list[tuple[Module, Function]]] = {}
        for module in self.source.modules.values():
            for name, function in module.functions.items():
                if _dotted(function.returns) in self._types:
                    self._makers.setdefault(name, []).append((module, function))
        self._nodes = {name: list(_nodes(module)) for name, module in self.source.modules.items()}
        self.called: set[str] = set()
        """Makers that were found to be called."""

    def endings(self) -> list[Message]:
        """What ends a command, with its hint."""
        found = set()
        for call, scope in self._calls():
            if scope.function is None or (scope.module, scope.function) not in self._makers.get(
                scope.function.name, []
            ):
                found |= {Message(scope.module.area, *made) for made in self._made(call, scope)}
        return sorted(one for one in found if re.search(r"[a-z]{2}", one.text))

    def stops(self) -> list[str]:
        """Reasons that a loop is stopped for, as they stand in its file."""
        found = set()
        for node, scope in self._all():
            if scope.module.area not in ELSEWHERE and isinstance(node, ast.JoinedStr | ast.Constant):
                first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
                if isinstance(first, ast.Constant) and str(first.value).startswith(STOPS):
                    found.add(self.source.text(node, scope))
        return sorted(text for text in found if text not in STOPS)

    def unknown(self) -> list[str]:
        """Raised, and of no kind that we can tell apart: perhaps an error for the user that is not told of."""
        raised = ((node, scope) for node, scope in self._all() if isinstance(node, ast.Raise))
        return [
            f"{scope.module.name}:{node.lineno}"
            for node, scope in raised
            if isinstance(node.exc, ast.Call) and not self._is_known(node.exc, scope)
        ]

    def uncalled(self) -> list[str]:
        """Functions that make errors, and of which we found no call; after `endings`."""
        return sorted(name for name in self._makers if name not in self.called)

    def _derived(self, types: set[str]) -> set[str]:
        """With the names of what derives from them in the sources, whether it was imported or not."""
        trees = (module.tree for module in self.source.modules.values())
        classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
        while new := {one.name for one in classes if types & {_dotted(base) for base in one.bases}} - types:
            types = types | new
        return types

    # --- one call ----------------------------------------------------------------------------------------------

    def _all(self) -> Iterator[tuple[ast.AST, Scope]]:
        return chain.from_iterable(self._nodes.values())

    def _calls(self) -> Iterator[tuple[ast.Call, Scope]]:
        return ((node, scope) for node, scope in self._all() if isinstance(node, ast.Call))

    def _made(self, call: ast.Call, scope: Scope) -> Iterator[tuple[str, str]]:
        """Message and hint of each error that a call can make."""
        if _dotted(call.func) in self._types:
            given = {one.arg: one.value for one in call.keywords}
            first = call.args[0] if call.args else None
            said = self.source.text(given.get("why", first), scope).removesuffix(f"[{UNKNOWN}]")
            yield said, self.source.text(given.get("hint"), scope)
        elif (maker := self._maker(call.func, scope.module)) is not None:
            module, function = maker
            self.called.add(function.name)
            inner = Scope(module, function, bound(function, call, scope))
            for node in ast.walk(function):
                if isinstance(node, ast.Return) and isinstance(node.value, ast.Call):
                    yield from self._made(node.value, inner)

    # --- what makes an error -----------------------------------------------------------------------------------

    def _is_known(self, call: ast.Call, scope: Scope) -> bool:
        is_ours = _dotted(call.func) in self._types or self._maker(call.func, scope.module) is not None
        return is_ours or self._is_of_another_kind(call.func, scope.module)

    def _is_of_another_kind(self, raised: ast.expr, module: Module) -> bool:
        """An exception that is none of a user's: it is caught, or a bug."""
        first, *inner = _dotted(raised).split(".")
        there, name = self.source.defined(module, first)
        value: object = getattr(builtins, name, None)
        with suppress(ImportError):
            value = getattr(importlib.import_module(there.name), name, value)
        for one in inner:
            value = getattr(value, one, None)
        return isinstance(value, type) and issubclass(value, BaseException) and not issubclass(value, ERRORS)

    def _maker(self, made_by: ast.expr, module: Module) -> tuple[Module, Function] | None:
        if isinstance(made_by, ast.Name):
            where, name = self.source.defined(module, made_by.id)
            makers = [one for one in self._makers.get(name, []) if one[0] is where]
        else:
            makers = self._makers.get(made_by.attr, []) if isinstance(made_by, ast.Attribute) else []
        return makers[0] if len(makers) == 1 else None


def _names_of(kind: type[Exception]) -> Iterator[str]:
    """As it and what derives from it are written in the sources."""
    yield from (kind.__name__, f"click.{kind.__name__}")
    for derived in kind.__subclasses__():
        yield from _names_of(derived)


def _nodes(module: Module) -> Iterator[tuple[ast.AST, Scope]]:
    """Calls, raises and texts, with the innermost function around them; of a text with gaps, not its pieces."""
    waiting: list[tuple[ast.AST, Scope]] = [(module.tree, Scope(module))]
    while waiting:
        node, scope = waiting.pop()
        if isinstance(node, ast.Call | ast.Raise | ast.JoinedStr | ast.Constant):
            yield node, scope
        inner = Scope(module, node) if isinstance(node, Function) else scope
        is_text = isinstance(node, ast.JoinedStr)
        waiting += [
            (child, inner) for child in ast.iter_child_nodes(node) if not (is_text and isinstance(child, ast.Constant))
        ]


def _dotted(expression: ast.expr | None) -> str:
    """As in `click.UsageError`; empty for what is no such name."""
    match expression:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{_dotted(value)}.{name}"
    return ""
