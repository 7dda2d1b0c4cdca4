"""`aot prompt`: it prints the exact prompt that an agent would get for an atom."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aotloop.agents.prompts.attempt_prompt import prompt_in_style
from aotloop.app.loops import known_atom, open_store
from aotloop.cli.ui.loop_names import complete_atom
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import named, say_json, say_next
from aotloop.config.sources import load
from aotloop.core.context import context_of
from aotloop.core.effects import Role
from aotloop.core.graph.work_graph import Graph
from aotloop.statefile.locate import project_root
from aotloop.text.sanitize import visible


@click.command(
    "prompt",
    epilog="""\b
Examples:
  aot prompt A3
  aot prompt A3 --role probe | less
  aot prompt A3 --json | jq '.characters'
""",
)
@state_file_option
@json_option
@click.argument("atom", shell_complete=complete_atom)
@click.option(
    "--role",
    type=click.Choice(["worker", "probe"]),
    help="The role [default: probe if the atom needs a probe, else worker].",
)
def command(state_file: str | None, as_json: bool, atom: str, role: Role | None) -> None:
    """Print exactly the prompt that the agent for ATOM would get now.

    It holds the objective, the atom, the results it builds on and earlier failures. Its size does not grow with the
    length of a run.
    """
    store = open_store(state_file)
    loop, config = store.load(), load(Path(project_root(store.path)))
    found = known_atom(loop, atom)
    for_role: Role = role or ("probe" if found.probe else "worker")
    if found.run is not None and for_role == "worker":
        if as_json:
            say_json({"atom": found.id, "role": for_role, "run": found.run, "prompt": None})
        else:
            click.echo(f"no agent gets a prompt: a command does this atom\n  $ {visible(found.run)}", err=True)
        return
    agent = found.agent or config.agent_of(for_role)
    text = prompt_in_style(
        context_of(Graph(loop), found.id),
        for_role,
        config.instructions_for(for_role),
        style=config.style_of(agent) if agent is not None else "full",
    )
    if as_json:
        say_json({"atom": found.id, "role": for_role, "characters": len(text), "prompt": text})
        return
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    say_next("aot run", f"aot prompt {named(atom)} --role {'worker' if for_role == 'probe' else 'probe'}")
