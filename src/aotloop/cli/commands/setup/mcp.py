"""`aot mcp`: it lets an agent's client see and steer loops, over the Model Context Protocol."""

from __future__ import annotations

import click

from aotloop.cli.ui.options import state_file_option
from aotloop.errors import Unavailable
from aotloop.extras import install_command
from aotloop.trust.person import refuse_agents


@click.command(
    "mcp",
    epilog="""\b
Examples:
  aot mcp                              a client starts it like this
  aot plugin install --mcp             tell Claude Code of it, in .mcp.json
  codex mcp add aotloop -- aot mcp
""",
)
@state_file_option
def command(state_file: str | None) -> None:
    """Serve loops to an agent's client, over the Model Context Protocol on standard input and output.

    The client starts this command. Its tools look, verify with accepted commands, ask a run to stop, and propose
    corrections. None of them confirms, accepts or forces: a person does that.
    """
    refuse_agents("it has no need of a server that steers loops", "Start it from your own client.")
    try:
        from aotloop.mcp.stdio_server import serve  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise Unavailable(
            f"the MCP server is not installed ({error.name} is missing)", hint=f"`{install_command('mcp')}`"
        ) from None
    serve(state_file)
