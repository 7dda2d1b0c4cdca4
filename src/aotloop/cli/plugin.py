"""`aot plugin`: puts the plugin into Claude Code or Codex, and says where it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import msgspec

from aotloop.cli.foreign import prose
from aotloop.cli.options import InOrder, json_option
from aotloop.cli.output import faint, heading, mark, report_done, say_json, say_next, tell
from aotloop.errors import AotError, Unavailable
from aotloop.installing import CLIENTS, Client
from aotloop.installing.client import Installed, Scope
from aotloop.installing.place import PLUGIN, Place, find_place


@click.group(
    "plugin",
    cls=InOrder,
    epilog="""\b
Examples:
  aot plugin install
  aot plugin status
  claude --plugin-dir "$(aot plugin path)"
""",
)
def command() -> None:
    """Install the plugin that runs loops inside of Claude Code and Codex, look at it, remove it."""


def _client_option(function: Any) -> Any:
    return click.option(
        "--client", "name", type=click.Choice(list(CLIENTS)), default="claude", show_default=True, help="Into which."
    )(function)


def _scope_options(function: Any) -> Any:
    user = click.option("--user", "scope", flag_value="user", default="user", help="For all your projects [default].")
    project = click.option(
        "--project", "scope", flag_value="project", help="For this project only: in its .claude/settings.json."
    )
    return user(project(function))


@command.command(
    "install",
    epilog="""\b
Examples:
  aot plugin install
  aot plugin install --project
  aot plugin install --client codex
""",
)
@json_option
@_scope_options
@_client_option
def install(as_json: bool, scope: Scope, name: str) -> None:
    """Install the plugin into a client.

    It is done by the client's own commands, and without a network. Claude Code runs it from where it lies, so an
    upgrade of aotloop is one of the plugin. Codex runs a copy.
    """
    client, place = _client(name, scope), find_place()
    try:
        client.install(place, scope, _project())
    except Unavailable as error:
        by_hand = f"By hand: {' && '.join(client.by_hand(place, scope))}"
        raise Unavailable(error.message, hint=" ".join(filter(None, (error.hint, by_hand)))) from error
    whose = "for you" if scope == "user" else f"for {_project()}"
    report_done(
        as_json=as_json,
        data={"client": name, "scope": scope, "path": str(place.folder), "version": place.version},
        said=prose(f"{PLUGIN} {place.version} is installed in {client.title}, {whose}"),
    )
    if not as_json:
        for note in client.notes:
            tell(note, head=f"{mark(None)} ", err=True)
        say_next(f"start {client.title} in your project", f"type {client.begin}")


@command.command(
    "uninstall",
    epilog="""\b
Examples:
  aot plugin uninstall
  aot plugin uninstall --project
  aot plugin uninstall --client codex
""",
)
@json_option
@_scope_options
@_client_option
def uninstall(as_json: bool, scope: Scope, name: str) -> None:
    """Remove the plugin from a client.

    When no project has it any more, the client is made to forget all about it.
    """
    client = _client(name, scope)
    was_there = client.uninstall(scope, _project())
    said = f"{PLUGIN} is no longer in {client.title}" if was_there else f"{PLUGIN} was not installed in {client.title}"
    report_done(as_json=as_json, data={"client": name, "scope": scope, "removed": was_there}, said=said)


@command.command(
    "status",
    epilog="""\b
Examples:
  aot plugin status
  aot plugin status --json
""",
)
@json_option
def status(as_json: bool) -> None:
    """Say which clients have the plugin.

    And whether it is the one of this installation: another one may have been installed before, or a copy be old.
    """
    place = find_place()
    looked = {name: _look(client) for name, client in CLIENTS.items()}
    if as_json:
        clients = {
            name: {"problem": problem, "installed": [_data(place, one) for one in installed]}
            for name, (installed, problem) in looked.items()
        }
        say_json({"path": str(place.folder), "version": place.version, "clients": clients})
        return
    tell(f"{PLUGIN} {place.version}", style=heading)
    tell(prose(str(place.folder)), head="  ", style=faint)
    for name, (installed, problem) in looked.items():
        _tell(CLIENTS[name], place, installed, problem)
    missing = [name for name, (installed, problem) in looked.items() if not installed and problem is None]
    say_next(*(f"aot plugin install --client {name}" for name in missing))


@command.command(
    "path",
    epilog="""\b
Examples:
  aot plugin path
  claude --plugin-dir "$(aot plugin path)"
""",
)
@json_option
def path(as_json: bool) -> None:
    """Print the folder of the plugin.

    With `claude --plugin-dir` it is used without being installed.
    """
    place = find_place()
    if as_json:
        say_json({"path": str(place.folder), "marketplace": str(place.marketplace), "version": place.version})
    else:
        click.echo(str(place.folder))


def _client(name: str, scope: Scope) -> Client:
    client = CLIENTS[name]
    if scope not in client.scopes:
        raise click.UsageError(f"{client.title} has plugins for all projects only; leave --{scope} out")
    return client


def _project() -> Path:
    """The repository we are in, or this folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if os.path.lexists(folder / ".git")), here)


def _look(client: Client) -> tuple[list[Installed], str | None]:
    try:
        return client.installed(_project()), None
    except AotError as error:
        return [], error.message


def _data(place: Place, installed: Installed) -> dict[str, Any]:
    return {**msgspec.to_builtins(installed), "doubt": _doubt(place, installed)}


def _doubt(place: Place, installed: Installed) -> str | None:
    if installed.folder is not None and Path(installed.folder).resolve() != place.folder:
        return f"it is that of another installation: {installed.folder}"
    if installed.version != place.version:
        return f"it is a copy of version {installed.version}; this is {place.version}"
    return "it is disabled" if installed.is_enabled is False else None


def _tell(client: Client, place: Place, installed: list[Installed], problem: str | None) -> None:
    if not installed:
        tell(prose(f"{client.title}: {problem or 'not installed'}"), head=f"  {mark(None)} ")
    for one in installed:
        doubt = _doubt(place, one)
        where = f"for {one.project}" if one.project is not None else "for you"
        said = f"{client.title}: installed {where}{f'; {doubt}' if doubt else ''}"
        tell(prose(said), head=f"  {mark(None if doubt else True)} ")
