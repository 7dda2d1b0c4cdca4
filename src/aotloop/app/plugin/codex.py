"""Codex runs a copy of the plugin. The copy is replaced after an upgrade, and knows the path of this installation."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import msgspec

from aotloop.agents.codex.backend import INSTALL
from aotloop.app.plugin.client import Installed, Scope
from aotloop.app.plugin.client_command import ask, ask_json
from aotloop.app.plugin.installation import MARKETPLACE, NAME, Installation, forget_interpreter, remember_interpreter
from aotloop.errors import Unavailable


class _Source(msgspec.Struct, frozen=True):
    path: str | None = None


class _Plugin(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    plugin_id: str
    version: str | None = None
    installed: bool = True
    enabled: bool = True
    source: _Source = _Source()


class _Plugins(msgspec.Struct, frozen=True):
    """As `codex plugin list --json` tells it."""

    installed: list[_Plugin] = []


class _Marketplace(msgspec.Struct, frozen=True):
    name: str
    root: str | None = None


class _Marketplaces(msgspec.Struct, frozen=True):
    marketplaces: list[_Marketplace] = []


class Codex(msgspec.Struct, frozen=True):
    @property
    def title(self) -> str:
        return "Codex"

    @property
    def scopes(self) -> tuple[Scope, ...]:
        return ("user",)

    @property
    def notes(self) -> tuple[str, ...]:
        return (
            "Its hooks do nothing until you trust them: type /hooks in Codex, look at those of aot-loop, accept them.",
            "Codex runs a copy: repeat this after each upgrade of aotloop; changed hooks have to be trusted again.",
        )

    @property
    def begin(self) -> str:
        return "$aot-loop:source-command-align-goal"

    def program(self) -> str:
        found = shutil.which("codex")
        if found is None:
            raise Unavailable("Codex is not installed", hint=INSTALL)
        return str(Path(found).absolute())

    def by_hand(self, place: Installation, scope: Scope) -> tuple[str, ...]:  # noqa: ARG002 - there is one scope
        return (
            f"codex plugin marketplace add {shlex.quote(str(place.marketplace))}",
            f"codex plugin add {NAME}",
        )

    def installed(self, project: Path) -> list[Installed]:  # noqa: ARG002 - it is for all projects
        return [
            Installed(scope="user", version=plugin.version, folder=plugin.source.path, is_enabled=plugin.enabled)
            for plugin in ask_json(self.program(), "plugin", "list", "--json", wanted=_Plugins).installed
            if plugin.plugin_id == NAME and plugin.installed
        ]

    def install(self, place: Installation, scope: Scope, project: Path) -> None:  # noqa: ARG002
        program = self.program()
        known = self._marketplace()
        if known is not None and known.root != str(place.marketplace):  # another installation's, or it has moved
            ask(program, "plugin", "marketplace", "remove", MARKETPLACE)
        ask(program, "plugin", "marketplace", "add", str(place.marketplace))
        ask(program, "plugin", "add", NAME)
        remember_interpreter()

    def allow_rules(self, place: Installation) -> tuple[str, ...]:  # noqa: ARG002 - its sandbox decides
        return ()

    def uninstall(self, scope: Scope, project: Path) -> bool:  # noqa: ARG002
        program, there = self.program(), self.installed(project)
        if there:
            ask(program, "plugin", "remove", NAME)
        if self._marketplace() is not None:
            ask(program, "plugin", "marketplace", "remove", MARKETPLACE)
        forget_interpreter()
        return bool(there)

    def _marketplace(self) -> _Marketplace | None:
        listed = ask_json(self.program(), "plugin", "marketplace", "list", "--json", wanted=_Marketplaces)
        return next((marketplace for marketplace in listed.marketplaces if marketplace.name == MARKETPLACE), None)
