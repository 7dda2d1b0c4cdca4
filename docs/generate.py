"""Writes the pages and the parts of pages that are made from the program itself; a test fails when one is out of date.

docs/cli.md is made from the commands; docs/errors.md and the list of messages from the sources; diagrams, receipts and
limits from tables of the core; maps from docstrings and the import contract; docs/agents.md's tables from the backends;
that of docs/scripts.md from the scripts' own usage; that of the engines from the test that tries them.
Run: make docs
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from docs.marked import replaced
from docs.messages import Reader
from tests.process.sandbox.escapes import HOLDS

from aotloop.agents.acp.presets import PRESETS
from aotloop.agents.claude import event_summary as claude
from aotloop.agents.codex import backend as codex
from aotloop.agents.contract import Capabilities
from aotloop.agents.registry import BACKENDS, EXTRAS, Settings, backend
from aotloop.core.limits import EFFORTS, limits_of
from aotloop.core.model import Constraints
from aotloop.core.phases.receipts import RECEIPTS, Proof
from aotloop.core.transitions import ATOM, LOOP
from aotloop.scripts.run import MODULES
from docs import commands, errors, package_map

DOCS = Path(__file__).parent
GUIDE = DOCS.parent / "AGENTS.md"


def pages() -> dict[Path, str]:
    """Every page that has something made in it, as it should be now."""
    reader = Reader()
    parts = {
        DOCS / "errors.md": errors.parts(reader),
        DOCS / "architecture.md": {"states": _states(), "map": package_map.table()},
        GUIDE: {"layers": package_map.picture()},
        DOCS / "phases.md": {"receipts": _receipts()},
        DOCS / "scripts.md": {"scripts": _scripts()},
        DOCS / "security.md": {"escapes": _escapes()},
        DOCS / "state-file.md": {"limits": _limits()},
        DOCS / "agents.md": {"clients": _clients(), "capabilities": _capabilities()},
    }
    made = {path: replaced(path.read_text(encoding="utf-8"), those) for path, those in parts.items()}
    messages = {DOCS / "development" / "messages.txt": errors.messages(reader.endings())}
    return {DOCS / "cli.md": commands.page(), **messages, **made}


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


def _receipts() -> str:
    """What all phases need, what those from `deepen` on need, and what each needs beyond that."""
    later = list(RECEIPTS)[list(RECEIPTS).index("deepen") :]
    of_all = [one for one in RECEIPTS["deepen"].proofs if all(one in row.proofs for row in RECEIPTS.values())]
    shared = [one for one in RECEIPTS["deepen"].proofs if all(one in RECEIPTS[name].proofs for name in later)]
    of_later = [one for one in shared if one not in of_all]
    rows: list[tuple[str, ...]] = []
    for phase, row in RECEIPTS.items():
        known = [*of_all, *(of_later if phase in later else ())]
        further = "; ".join(_proof(one) for one in row.proofs if one not in known)
        rows.append((f"`{phase}`", row.artifact, further or "none"))
    needed = [*map(_proof, of_all), *(f"from `deepen` on: {_proof(one)}" for one in of_later)]
    listed = "\n".join(f"- {one}" for one in needed)
    return f"{listed}\n\n{_table(('phase', 'artifact', 'further proofs'), rows)}"


def _proof(proof: Proof) -> str:
    return proof.says + (" *" if proof.lasting else "")


def _escapes() -> str:
    """What each engine stops, as the test of all engines has it."""
    engines = {"bubblewrap": "bwrap", "srt": "srt", "Landlock": "landlock"}
    rows = [
        (tried, *("refused" if engine in held else "**open**" for engine in engines.values()))
        for tried, held in HOLDS.items()
    ]
    return _table(("an attempt tries to reach", *engines), rows)


LIMITS = {
    "max_total_attempts": "attempts of the whole loop, which all atoms share",
    "max_attempts": "the longest turn: failures in a row before the next alternative comes",
    "max_iterations": "",
    "max_stall_count": "iterations in a row without progress",
    "max_parallel_agents": "",
    "max_depth": "of decompositions",
    "max_children": "of one decomposition",
    "max_cost_usd": "dollars, shared by the attempts under way",
    "max_runtime": "seconds, or for example 90m",
    "verify_each_iteration": "try the base case at the end of each",
}
"""What each constraint means; `effort` has a sentence of its own on the page."""


def _limits() -> str:
    """The default of each constraint, for each effort."""
    rows = []
    for name, meaning in LIMITS.items():
        values = [getattr(limits_of(Constraints(effort=effort)), name) for effort in EFFORTS]
        if name == "max_total_attempts":
            values = [f"{one.attempts_per_atom} per atom" for one in EFFORTS.values()]
        rows.append((f"`{name}`", *("none" if one is None else str(one).lower() for one in values), meaning))
    return _table(("key", *EFFORTS, ""), rows)


def _scripts() -> str:
    """Each script as its `--help` tells of it."""
    rows = []
    for name, module in MODULES.items():
        usage = getattr(import_module(f"aotloop.scripts.{module}"), name.upper()).usage
        rows.append((f"`{name}`", f"`{usage.line(name).partition(' ')[2]}`".replace("``", ""), _in_cell(usage.summary)))
    return _table(("script", "arguments", "what it does"), rows)


def _in_cell(text: str) -> str:
    """Prose of a cell: names of options are code, and what looks like a tag is text."""
    return re.sub(r"(--[\w-]+)", r"`\1`", text).replace("<", "&lt;").replace("|", "\\|")


def _clients() -> str:
    extras = {name: f"the extra `{name}`" for name in EXTRAS}
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
