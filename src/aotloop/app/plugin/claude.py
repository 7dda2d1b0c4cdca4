"""Claude Code runs the plugin from where we have it, so an upgrade is effective at once; its copy is not used."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec

from aotloop.agents.claude.program import find_program
from aotloop.app.plugin.allow_rules import allow_rules
from aotloop.app.plugin.client import Installed, Scope
from aotloop.app.plugin.client_command import ask, ask_json
from aotloop.app.plugin.installation import MARKETPLACE, NAME, Installation
from aotloop.deletion import discard_tree


class _Listed(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """As `claude plugin list --json` tells it."""

    id: str
    scope: str = "user"
    version: str | None = None
    enabled: bool = True
    install_path: str | None = None
    read_from_folder: str | None = None
    project_path: str | None = None


class ClaudeCode(msgspec.Struct, frozen=True):
    @property
    def title(self) -> str:
        return "Claude Code"

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return ("user", "project")

    @property
    def notes(self) -> tuple[str, ...]:
        return ()

    @property
    def begin(self) -> str:
        return "/aot-loop:align-goal"

    def program(self) -> str:
        return find_program(None)

    def by_hand(self, place: Installation, scope: Scope) -> tuple[str, ...]:
        return (
            f"claude plugin marketplace add {shlex.quote(str(place.marketplace))}",
            f"claude plugin install {NAME} --scope {scope}",
        )

    def installed(self, project: Path) -> list[Installed]:
        return [
            Installed(
                scope="user" if entry.scope == "user" else "project",
                version=entry.version,
                folder=entry.read_from_folder or entry.install_path,
                is_enabled=entry.enabled if entry.project_path is None or _is(entry.project_path, project) else None,
                project=entry.project_path,
            )
            for entry in self._listed(project)
        ]

    def install(self, place: Installation, scope: Scope, project: Path) -> None:
        program = self.program()
        ask(program, "plugin", "marketplace", "add", str(place.marketplace), cwd=project)
        ask(program, "plugin", "install", NAME, "--scope", scope, cwd=project)

    def allow_rules(self, place: Installation) -> tuple[str, ...]:
        return allow_rules(place)

    def uninstall(self, scope: Scope, project: Path) -> bool:
        program, before = self.program(), self._listed(project)
        here = [
            earlier
            for earlier in before
            if earlier.scope == scope and (scope == "user" or _is(earlier.project_path, project))
        ]
        if here:
            ask(program, "plugin", "uninstall", NAME, "--scope", scope, cwd=project)
        if before and not self._listed(project):
            ask(program, "plugin", "marketplace", "remove", MARKETPLACE, cwd=project)
            for earlier in before:
                _remove_copy(earlier)
        return bool(here)

    def _listed(self, project: Path) -> list[_Listed]:
        listed = ask_json(self.program(), "plugin", "list", "--json", wanted=list[_Listed], cwd=project)
        return [entry for entry in listed if entry.id == NAME]


def _is(path: str | None, project: Path) -> bool:
    return path is not None and Path(path).resolve() == project.resolve()


def _remove_copy(listed: _Listed) -> None:
    """Removes the copy that the client leaves behind, if its folders have our names."""
    copies = Path(listed.install_path or "/").parent.parent
    if copies.name == MARKETPLACE and copies.parent.name == "cache":
        discard_tree(copies)
