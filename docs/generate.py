"""Writes docs/cli.md from the commands, docs/errors.md from the sources, the diagrams of docs/architecture.md from the
tables, and what docs/agents.md says about each backend from the backends; a test fails when they are out of date.
Run: make docs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from docs import errors
from docs.messages import Reader

from aotloop.agents import codex
from aotloop.agents.acp_presets import PRESETS
from aotloop.agents.claudecode import troubles as claude
from aotloop.agents.contract import Capabilities
from aotloop.agents.registry import BACKENDS, EXTRAS, backend
from aotloop.agents.settings import Settings
from aotloop.cli.main import COMMANDS, aot
from aotloop.core.transitions import ATOM, LOOP

PAGE = Path(__file__).parent / "cli.md"
ERRORS = Path(__file__).parent / "errors.md"
ARCHITECTURE = Path(__file__).parent / "architecture.md"
AGENTS = Path(__file__).parent / "agents.md"
BEGIN, END = "<!-- made from aotloop.core.transitions -->", "<!-- end -->"

HEAD = """\
# Commands
Made from the commands' own help; `aot COMMAND --help` says the same.

The state file is the one `--state-file` names, else `$AOT_STATE_FILE`, else `.claude/aot-loop-state.md` in the current
folder or above it. `--json` prints one JSON object on standard output and nothing else. Exit codes: 0 success,
1 failure, 2 usage, 130 interrupted; `aot verify` also has 6, undecided; `aot run` has 3, the gate is not open, 4,
stalled or exhausted, 5, a limit, 6, waiting for a person, and 7, stopped by a person.
"""


def page() -> str:
    root = click.Context(aot, info_name="aot", terminal_width=100, **aot.context_settings)
    parts = [HEAD]
    for name in COMMANDS:
        command = aot.get_command(root, name)
        if command is not None:
            parts += _sections(command, click.Context(command, info_name=name, parent=root), "##")
    return "\n".join(parts)


def _sections(command: click.Command, context: click.Context, level: str) -> list[str]:
    parts = [f"{level} `{context.command_path}`\n", f"```text\n{command.get_help(context).rstrip()}\n```\n"]
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            parts += _sections(inner, click.Context(inner, info_name=name, parent=context), level + "#")
    return parts


def architecture(text: str) -> str:
    """The page with its diagrams as the tables are now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{_diagram('atom', ATOM)}\n{_diagram('loop', LOOP)}\n{END}{after}"


def _diagram(name: str, table: Mapping[Any, str]) -> str:
    """Moves that change nothing are left out."""
    moves: dict[tuple[str, str], list[str]] = {}
    for (status, move), following in table.items():
        if status != following:
            moves.setdefault((status, following), []).append(move)
    lines = [f"    {status} --> {following}: {', '.join(names)}" for (status, following), names in moves.items()]
    first = next(iter(table))[0]
    return "\n".join(["```mermaid", "stateDiagram-v2", f"    %% {name}", f"    [*] --> {first}", *lines, "```"])


def agents(text: str) -> str:
    """The page with its tables as the backends are now."""
    for what, table in (("clients", _clients()), ("capabilities", _capabilities())):
        begin, end = f"<!-- made from aotloop.agents: {what} -->", f"<!-- end: {what} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{table}\n{end}{after}"
    return text


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
    PAGE.write_text(page(), encoding="utf-8")
    ERRORS.write_text(errors.page(ERRORS.read_text(encoding="utf-8"), Reader()), encoding="utf-8")
    ARCHITECTURE.write_text(architecture(ARCHITECTURE.read_text(encoding="utf-8")), encoding="utf-8")
    AGENTS.write_text(agents(AGENTS.read_text(encoding="utf-8")), encoding="utf-8")
