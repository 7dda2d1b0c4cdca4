"""Writes the pages and the parts of pages that are made from the program itself; a test fails when one is out of date.

docs/cli.md is made from the commands, docs/errors.md from the sources, the diagrams of docs/architecture.md from the
tables, its map and that of AGENTS.md from docstrings and import contract, docs/agents.md's tables from the backends.
Run: make docs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from docs.marked import replaced
from docs.messages import Reader

from aotloop.agents.acp.presets import PRESETS
from aotloop.agents.claude import event_summary as claude
from aotloop.agents.codex import backend as codex
from aotloop.agents.contract import Capabilities
from aotloop.agents.registry import BACKENDS, EXTRAS, Settings, backend
from aotloop.core.transitions import ATOM, LOOP
from docs import commands, errors, package_map

DOCS = Path(__file__).parent
GUIDE = DOCS.parent / "AGENTS.md"


def pages() -> dict[Path, str]:
    """Every page that has something made in it, as it should be now."""
    parts = {
        DOCS / "errors.md": errors.parts(Reader()),
        DOCS / "architecture.md": {"states": _states(), "map": package_map.table()},
        GUIDE: {"layers": package_map.picture()},
        DOCS / "agents.md": {"clients": _clients(), "capabilities": _capabilities()},
    }
    made = {path: replaced(path.read_text(encoding="utf-8"), those) for path, those in parts.items()}
    return {DOCS / "cli.md": commands.page(), **made}


def _states() -> str:
    return f"{_diagram('atom', ATOM)}\n{_diagram('loop', LOOP)}"


def _diagram(name: str, table: Mapping[Any, str]) -> str:
    """Moves that change nothing are left out."""
    moves: dict[tuple[str, str], list[str]] = {}
    for (status, move), following in table.items():
        if status != following:
            moves.setdefault((status, following), []).append(move)
    lines = [f"    {status} --> {following}: {', '.join(names)}" for (status, following), names in moves.items()]
    first = next(iter(table))[0]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    %% {name}", f"    [*] --> {first}", *lines, "```"])


def _clients() -> str:
    extras = {name: f"`pip install 'aotloop[{name}]'`" for name in EXTRAS}
    rows = [
        ("`claude`", f"`claude` on your `PATH`, or {extras['claude']}", claude.LOG_IN),
        ("`codex`", _shown(codex.INSTALL), codex.LOG_IN),
        *((f"`{name}`", _shown(one.install), one.log_in) for name, one in PRESETS.items()),
    ]
    return _table(("agent", "to install", "to log in"), rows)


def _shown(install: str) -> str:
    how, _, command = install.partition("with: ")
    return f"`{command}`" if command else how


def _capabilities() -> str:
    fields = Capabilities.__struct_fields__
    rows: list[tuple[str, ...]] = []
    for name in BACKENDS:
        able = backend(name, Settings(argv=("agent",))).capabilities
        rows.append((f"`{name}`", *(getattr(able, field) for field in fields)))
    return _table(("backend", *(field.replace("_", " ") for field in fields)), rows)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rows))


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
