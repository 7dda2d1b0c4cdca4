"""Where this installation has the plugin: beside its modules if it was built; in a checkout, beside its sources."""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.errors import Unavailable

PLUGIN = "aot-loop"
MARKETPLACE = "aotloop"
NAME = f"{PLUGIN}@{MARKETPLACE}"
"""What clients call it."""

_MANIFESTS = ".claude-plugin"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    """Of the plugin."""
    marketplace: Path
    """The folder that clients are told of; it says where the plugin is."""
    version: str


class _Manifest(msgspec.Struct, frozen=True):
    version: str


def find_place() -> Place:
    """Raises Unavailable."""
    package = Path(__file__).resolve().parents[1]
    for root in (package, package.parents[1]):
        manifest = root / "plugin" / _MANIFESTS / "plugin.json"
        if manifest.is_file() and (root / _MANIFESTS / "marketplace.json").is_file():
            version = msgspec.json.decode(manifest.read_bytes(), type=_Manifest).version
            return Place(folder=root / "plugin", marketplace=root, version=version)
    raise Unavailable(
        f"this installation of aotloop has no plugin: {package}",
        hint="Install it anew, with `uv tool install aotloop` or `pipx install aotloop`.",
    )
