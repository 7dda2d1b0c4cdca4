"""Prints the figures of decision 17: `python -m docs.house_figures`."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "aotloop"
SHORT, SMALL, WIDE = 60, 40, 15


def figures() -> Iterator[tuple[str, str]]:
    modules = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]
    lines = {path: len(path.read_text().splitlines()) for path in modules}
    importers = _importers()
    alone = [path for path in modules if len(importers[_name(path)] - {path}) == 1 and lines[path] < SHORT]
    yield "modules (without `__init__`)", str(len(modules))
    yield "packages", str(len(list(SOURCE.rglob("__init__.py"))))
    yield "lines of a module: median, longest", f"{median(lines.values()):.0f}, {max(lines.values())}"
    yield "modules with one importer and less than 60 lines", str(len(alone))
    yield "modules with less than 40 lines", str(sum(count < SMALL for count in lines.values()))
    yield "imports inside of functions", str(sum(map(_late_imports, SOURCE.rglob("*.py"))))
    yield "names that several modules have", str(sum(count > 1 for count in Counter(p.name for p in modules).values()))
    flat = Counter(path.parent for path in modules)
    yield "packages with more than 15 modules side by side", str(sum(count > WIDE for count in flat.values()))
    yield "words of documentation", f"{words(generated=True):,}"
    yield "of these, written by hand, without tables of measurements", f"{words(generated=False):,}"


def _name(path: Path) -> str:
    return ".".join(["aotloop", *path.relative_to(SOURCE).with_suffix("").parts])


def _importers() -> defaultdict[str, set[Path]]:
    found: defaultdict[str, set[Path]] = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                    found[name].add(path)
    return found


def _late_imports(path: Path) -> int:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    functions = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds))
    return sum(isinstance(inner, ast.Import | ast.ImportFrom) for outer in functions for inner in ast.walk(outer))


def words(*, generated: bool) -> int:
    """Of all pages; without generated parts, tables of measurements and examples, if not asked for."""
    count = 0
    for page in (ROOT / "docs").rglob("*.md"):
        text = page.read_text()
        if not generated:
            text = re.sub(r"^<!-- made by .*?^<!-- end|^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        count += len(text.split()) if generated or page.name != "cli.md" else 0
    return count


if __name__ == "__main__":
    for name, value in figures():
        sys.stdout.write(f"| {name} | {value} |\n")
