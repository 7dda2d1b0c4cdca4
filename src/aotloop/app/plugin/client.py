"""What every client that takes the plugin can do, and what is known about a plugin it has."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Protocol

import msgspec

from aotloop.app.plugin.installation import Installation

Scope = Literal["user", "project"]


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    scope: Scope
    version: str | None = None
    folder: str | None = None
    """Which it runs; of a copy, which it was copied from."""
    is_enabled: bool | None = True
    """None: it is for another project, and only there it is known."""
    project: str | None = None
    """For which it is installed, if not for all."""


class Client(Protocol):
    @property
    def title(self) -> str: ...

    @property
    def scopes(self) -> tuple[Scope, ...]: ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person has to know, or do, after it was installed."""
        ...

    @property
    def begin(self) -> str:
        """What a person types to align on a goal."""
        ...

    def program(self) -> str:
        """Raises Unavailable if it is not there."""
        ...

    def by_hand(self, place: Installation, scope: Scope) -> tuple[str, ...]:
        """The commands a person would type to install it."""
        ...

    def installed(self, project: Path) -> list[Installed]:
        """Wherever it is; `project` is where we are."""
        ...

    def install(self, place: Installation, scope: Scope, project: Path) -> None: ...

    def allow_rules(self, place: Installation) -> tuple[str, ...]:
        """Rules by which it runs the plugin's scripts without a question; none, if it has no such rules."""
        ...

    def uninstall(self, scope: Scope, project: Path) -> bool:
        """Whether there was something to remove. Nothing of ours is left if no other project has it."""
        ...
