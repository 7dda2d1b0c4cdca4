"""Where this installation has the plugin, and how a copy of the plugin finds this installation."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from aotloop.errors import Unavailable
from aotloop.trust.folder import data_folder, keep

PLUGIN = "aot-loop"
MARKETPLACE = "aotloop"
NAME = f"{PLUGIN}@{MARKETPLACE}"
"""What clients call it."""

_MANIFESTS = ".claude-plugin"


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    """Of the plugin."""
    marketplace: Path
    """The folder that clients are given; it says where the plugin is."""
    version: str


class _Manifest(msgspec.Struct, frozen=True):
    version: str


def find_installation() -> Installation:
    """Raises Unavailable."""
    package = Path(__file__).resolve().parents[2]
    for root in (package, package.parents[1]):
        manifest = root / "plugin" / _MANIFESTS / "plugin.json"
        if manifest.is_file() and (root / _MANIFESTS / "marketplace.json").is_file():
            version = msgspec.json.decode(manifest.read_bytes(), type=_Manifest).version
            return Installation(folder=root / "plugin", marketplace=root, version=version)
    raise Unavailable(
        f"this installation of aotloop has no plugin: {package}",
        hint="Install it again with `uv tool install aotloop` or `pipx install aotloop`.",
    )


_FILE = "interpreter"


def remember_interpreter() -> None:
    """Raises Unavailable."""
    keep(data_folder(_FILE), os.fsencode(Path(sys.executable).absolute()) + b"\n", "where aotloop is installed")


def forget_interpreter() -> None:
    data_folder(_FILE).unlink(missing_ok=True)
