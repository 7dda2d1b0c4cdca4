"""`aot plugin`: it installs the plugin into Claude Code or Codex, removes it, and shows where it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import msgspec

from aotloop.app.plugin import CLIENTS
from aotloop.app.plugin.allow_rules import missing_rules, remove_rules, settings_file
from aotloop.app.plugin.client import Client, Installed, Scope
from aotloop.app.plugin.installation import PLUGIN, Installation, find_installation
from aotloop.app.plugin.mcp_entry import (
    add_to_codex,
    add_to_project,
    is_server_installed,
    remove_from_codex,
    remove_from_project,
)
from aotloop.cli.ui.options import InOrder, json_option
from aotloop.cli.ui.output import faint, heading, mark, report_done, say_json, say_next, tell
from aotloop.cli.ui.permission_offer import offer_rules
from aotloop.errors import AotError, Unavailable
from aotloop.extras import install_command
from aotloop.text.sanitize import prose


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
    """Install the plugin that runs loops inside Claude Code and Codex, show it, or remove it."""


def _client_option(function: Any) -> Any:
    return click.option(
        "--client", "name", type=click.Choice(list(CLIENTS)), default="claude", show_default=True, help="The client."
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
  aot plugin install --mcp
""",
)
@json_option
@_scope_options
@_client_option
@click.option(
    "--mcp", "with_mcp", is_flag=True, help="Also tell the client of `aot mcp`; for Claude Code in .mcp.json."
)
def install(as_json: bool, scope: Scope, name: str, with_mcp: bool) -> None:
    """Install the plugin into a client.

    aot uses the client's own commands and no network. Claude Code runs the plugin from its folder, so an upgrade of
    aotloop also upgrades the plugin. Codex runs a copy. On a terminal, aot offers rules by which Claude Code runs the
    plugin's scripts without a question; they are added only if you say yes.
    """
    client, place = _client(name, scope), find_installation()
    try:
        client.install(place, scope, _project())
    except Unavailable as error:
        by_hand = f"By hand: {' && '.join(client.by_hand(place, scope))}"
        hint = f"{error.hint.rstrip('.')}. {by_hand}" if error.hint else by_hand
        raise Unavailable(error.message, hint=hint) from error
    entry = _tell_of_mcp(client, name) if with_mcp else None
    rules, file = client.allow_rules(place), settings_file(scope, _project())
    recipient = "for you" if scope == "user" else f"for {_project()}"
    report_done(
        as_json=as_json,
        data={
            "client": name,
            "scope": scope,
            "path": str(place.folder),
            "version": place.version,
            "allow_rules": {"file": str(file), "missing": list(missing_rules(file, rules))} if rules else None,
        }
        | ({"mcp": entry} if entry is not None else {}),
        message=prose(f"{PLUGIN} {place.version} is installed in {client.title}, {recipient}"),
    )
    if not as_json:
        for note in (*client.notes, *_mcp_notes(entry)):
            tell(note, head=f"{mark(None)} ", err=True)
        if rules:
            offer_rules(file, rules)
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
@click.option("--mcp", "with_mcp", is_flag=True, help="Also remove the entry of `aot mcp`.")
def uninstall(as_json: bool, scope: Scope, name: str, with_mcp: bool) -> None:
    """Remove the plugin from a client.

    When no project uses it any more, the client's whole record of it is removed.
    """
    client = _client(name, scope)
    was_there = client.uninstall(scope, _project())
    rules, file = client.allow_rules(find_installation()), settings_file(scope, _project())
    had_rules = bool(rules) and remove_rules(file, rules)
    if with_mcp and name == "codex":
        remove_from_codex(client.program())
    elif with_mcp:
        remove_from_project(_project())
    message = f"{PLUGIN} was {'removed from' if was_there else 'not installed in'} {client.title}"
    message += f"; its allow rules were removed from {file}" if had_rules else ""
    data = {"client": name, "scope": scope, "removed": was_there, "allow_rules_removed": had_rules}
    report_done(as_json=as_json, data=data, message=prose(message))


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

    It also says whether the plugin belongs to this installation: another one may be installed, or a copy may be old.
    """
    place = find_installation()
    looked = {name: _look(client) for name, client in CLIENTS.items()}
    if as_json:
        clients = {
            name: {"problem": problem, "installed": [_data(place, copy) for copy in installed]}
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

    `claude --plugin-dir` uses it without an installation.
    """
    place = find_installation()
    if as_json:
        say_json({"path": str(place.folder), "marketplace": str(place.marketplace), "version": place.version})
    else:
        click.echo(str(place.folder))


def _tell_of_mcp(client: Client, name: str) -> str:
    """Where it is written now."""
    if name == "codex":
        add_to_codex(client.program())
        return client.title
    return str(add_to_project(_project()))


def _mcp_notes(entry: str | None) -> list[str]:
    if entry is None:
        return []
    missing = [] if is_server_installed() else [f"`aot mcp` needs more than is installed: {install_command('mcp')}"]
    return [prose(f"`aot mcp` is in {entry}; the client asks you before it uses the server"), *missing]


def _client(name: str, scope: Scope) -> Client:
    client = CLIENTS[name]
    if scope not in client.scopes:
        raise click.UsageError(f"{client.title} can install plugins only for all projects; remove --{scope}")
    return client


def _project() -> Path:
    """The current repository, or the current folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if os.path.lexists(folder / ".git")), here)


def _look(client: Client) -> tuple[list[Installed], str | None]:
    try:
        return client.installed(_project()), None
    except AotError as error:
        return [], error.message


def _data(place: Installation, installed: Installed) -> dict[str, Any]:
    return {**msgspec.to_builtins(installed), "doubt": _doubt(place, installed)}


def _doubt(place: Installation, installed: Installed) -> str | None:
    if installed.folder is not None and Path(installed.folder).resolve() != place.folder:
        return f"it belongs to another installation: {installed.folder}"
    if installed.version != place.version:
        return f"it is a copy of version {installed.version}; this installation has {place.version}"
    return "it is disabled" if installed.is_enabled is False else None


def _tell(client: Client, place: Installation, installed: list[Installed], problem: str | None) -> None:
    if not installed:
        tell(prose(f"{client.title}: {problem or 'not installed'}"), head=f"  {mark(None)} ")
    for copy in installed:
        doubt = _doubt(place, copy)
        where = f"for {copy.project}" if copy.project is not None else "for you"
        message = f"{client.title}: installed {where}{f'; {doubt}' if doubt else ''}"
        tell(prose(message), head=f"  {mark(None if doubt else True)} ")
