"""A mutant is one edit of one module. The old and the new text of the line identify it, not the line's number."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from mutants.operators import Edit, edits_of
from mutants.source import Source


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    module: str
    """Its file, seen from the folder that is mutated: conduct/run.py"""
    line: int
    function: str | None
    """None: it makes its difference on import."""
    before: str
    after: str
    text: bytes
    """Of the whole module."""

    def __str__(self) -> str:
        return f"{self.module}:{self.line}: {self.before} → {self.after}"

    @property
    def key(self) -> tuple[str, str, str]:
        return self.module, self.before, self.after


def mutants_of(module: str, text: bytes) -> list[Mutant]:
    """Each once, in the order of the text. Same words on two lines are two mutants."""
    source = Source(text)
    found: dict[Edit, Mutant] = {}
    for place in source.places():
        for edit in edits_of(source, place):
            if edit not in found and (mutant := _mutant(module, source, place.outermost, edit)) is not None:
                found[edit] = mutant
    return sorted(found.values(), key=lambda one: (one.line, one.before, one.after))


def _mutant(module: str, source: Source, function: str | None, edit: Edit) -> Mutant | None:
    """None if no word is different."""
    start, end = edit[0][0], edit[-1][1]
    changed = source.text
    for first, last, text in reversed(edit):
        changed = changed[:first] + text + changed[last:]
    first, last = source.lines(start, end)
    before = _in_one_line(source.text[first:last])
    after = _in_one_line(changed[first : len(changed) - (len(source.text) - last)])
    line = source.text.count(b"\n", 0, start) + 1
    return (
        Mutant(module=module, line=line, function=function, before=before, after=after, text=changed)
        if before != after
        else None
    )


def _in_one_line(text: bytes) -> str:
    return re.sub(r"\s+", " ", text.decode()).strip()


def all_mutants(folder: Path, only: Iterable[str] = ()) -> list[Mutant]:
    """Of all modules, or of those of these names: `failure`, `conduct/merging`, or a whole folder, `phases`."""
    wanted = tuple(only)
    modules = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.py"))]
    chosen = [
        one
        for one in modules
        if not wanted or any(one == f"{name}.py" or one.startswith(f"{name}/") for name in wanted)
    ]
    return [mutant for module in chosen for mutant in mutants_of(module, (folder / module).read_bytes())]


def sample(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """0: all of them."""
    if not 0 < count < len(mutants):
        return mutants
    chosen = random.Random(seed).sample(range(len(mutants)), count)
    return [mutants[number] for number in sorted(chosen)]


def equivalents(table: Path) -> Iterator[tuple[str, str, str]]:
    """Mutants that no test can tell from what they are mutants of, each with a reason in the table."""
    for entry in tomllib.loads(table.read_text(encoding="utf-8")).get("equivalent", []):
        yield entry["module"], entry["before"], entry["after"]
