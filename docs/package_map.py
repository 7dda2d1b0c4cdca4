"""The map of the packages: made from the import contract in pyproject.toml and the first sentence of each docstring.

It works on any package tree: a name of a layer is a package or a module; folders inside a package are its parts.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[1]
BAR = "\\|"
"""A bar inside of a table."""


class Unit(msgspec.Struct, frozen=True):
    """A package or a module, as the contract names it."""

    name: str
    rule: str
    parts: tuple[Unit, ...] = ()


def layers(project: Path = ROOT) -> list[list[Unit]]:
    """From the top down; units of one layer do not import each other, or say so in the contract."""
    contract = next(one for one in _contracts(project) if one["type"] == "layers")
    (container,) = contract["containers"]
    package = project / "src" / container
    return [[_unit(package, name) for name in _names(layer)] for layer in contract["layers"]]


def picture(project: Path = ROOT) -> str:
    """The layers alone, with what else the contracts forbid."""
    drawn = "\n".join(" | ".join(unit.name for unit in layer) for layer in layers(project))
    also = [f"- {one['name']}." for one in _contracts(project) if one["type"] != "layers"]
    return "\n".join(["```text", drawn, "```", "Imports point downwards only. The contracts also say:", "", *also])


def table(project: Path = ROOT) -> str:
    rows = [
        f"| {number} | `{name}` | {rule.replace('|', BAR)} |"
        for number, layer in enumerate(layers(project), 1)
        for unit in layer
        for name, rule in rules(unit)
    ]
    return "\n".join(["| layer | package | its rule |", "| --- | --- | --- |", *rows])


def rules(unit: Unit, above: str = "") -> Iterator[tuple[str, str]]:
    """The unit and its parts by their dotted names, each with its rule."""
    yield f"{above}{unit.name}", unit.rule
    for part in unit.parts:
        yield from rules(part, f"{above}{unit.name}.")


def _unit(folder: Path, name: str) -> Unit:
    inside = folder / name
    if not inside.is_dir():
        return Unit(name, _rule(folder / f"{name}.py"))
    parts = (one.parent.name for one in sorted(inside.glob("*/__init__.py")))
    return Unit(name, _rule(inside / "__init__.py"), tuple(_unit(inside, part) for part in parts))


def _rule(source: Path) -> str:
    said = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(said.split("\n\n")[0].split())
    found = re.match(r".+?[.!?](?= |$)", paragraph)
    return found[0] if found else paragraph


def _names(layer: str) -> list[str]:
    """Of a layer like `cli | hooks`; brackets mark what may be missing."""
    return [name.strip(" ()") for name in re.split(r"[|:]", layer)]


def _contracts(project: Path) -> list[dict[str, Any]]:
    settings = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, Any]] = settings["tool"]["importlinter"]["contracts"]
    return contracts
