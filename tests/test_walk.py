"""The walk in docs/architecture.md: from `aot run` to one merged atom, module by module, and not too long."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 45
BY_NAME = {"agents.command_backend": "agents.registry"}
"""Loaded by the name of its kind, which only the registry knows."""


def walk() -> list[str]:
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition("### The walk\n")[2].partition("\n## ")[0]
    steps = section[section.index("1. ") :]
    return re.findall(r"`([a-z_.]+)`", steps)


def imported_by(module: str) -> set[str]:
    path = ROOT / "src" / "aotloop" / Path(*module.split(".")).with_suffix(".py")
    froms = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    bases = [(node, (node.module or "").removeprefix("aotloop").removeprefix(".")) for node in froms]
    named = {f"{base}.{alias.name}" for node, base in bases for alias in node.names}
    return {base for _, base in bases} | named


def test_the_walk_is_short_and_visits_no_module_twice() -> None:
    modules = walk()
    assert 30 < len(modules) <= LONGEST
    assert len(set(modules)) == len(modules)


def test_each_module_of_the_walk_is_imported_by_one_before_it() -> None:
    modules = walk()
    known = imported_by(modules[0])
    for module in modules[1:]:
        assert module in known or BY_NAME.get(module) in modules, module
        known |= imported_by(module)
