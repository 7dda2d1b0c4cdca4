"""Transplants: a function of an imported module gets the code from another text of the module.

Every reference to the function, under any name, runs the other code from then on. So tests need not be imported again
for every mutant. This does not work for a mutant with an effect on import.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from functools import cached_property
from types import CodeType, FunctionType
from typing import Any


def compiled(text: bytes, path: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a comparison is odd is no surprise
        return compile(text, path, "exec", dont_inherit=True)


def transplant(module: str, function: str, text: bytes) -> None:
    """`function` is named as in `__qualname__`."""
    holder: Any = sys.modules[module]
    for name in function.split("."):
        holder = vars(holder)[name]
    others = {(code.co_qualname, code.co_firstlineno): code for code in _codes_in(compiled(text, module))}
    for found in _functions(holder):
        code = others.get((function, found.__code__.co_firstlineno))
        if code is not None:  # of a getter and a setter, one is the other's neighbour, and may have moved
            found.__code__ = code


def _functions(held: Any) -> Iterator[FunctionType]:
    match held:
        case FunctionType():
            yield held
        case property():
            yield from (one for one in (held.fget, held.fset) if isinstance(one, FunctionType))
        case cached_property():
            yield from _functions(held.func)
        case _:
            yield from _functions(held.__wrapped__)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)
