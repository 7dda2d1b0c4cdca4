"""Writes docs/cli.md from the commands themselves; a test fails when it is out of date. Run: make docs"""

from __future__ import annotations

from pathlib import Path

import click

from aotloop.cli.main import COMMANDS, aot

PAGE = Path(__file__).parent / "cli.md"

HEAD = """\
# Commands
Made from the commands' own help; `aot COMMAND --help` says the same.

The state file is the one `--state-file` names, else `$AOT_STATE_FILE`, else `.claude/aot-loop-state.md` in the current
folder or above it. `--json` prints one JSON object on standard output and nothing else. Exit codes: 0 success,
1 failure, 2 usage, 130 interrupted; `aot verify` also has 6, undecided.
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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
