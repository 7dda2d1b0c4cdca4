"""OpenCode runs the plug-ins that a repository brings along, and cannot be told not to: where there are any, it is not
started.

They are programs, loaded into the client with the operator's login at hand, whatever the client's role is. What is not
understood is taken for one that names a plug-in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aotloop.agents.folders import folders_of
from aotloop.errors import Unavailable

_FOLDERS = ("plugin", "plugins")
_ENDINGS = (".js", ".ts")
_KEYS = {"plugin", "plugins"}
_CONFIGS = ("opencode.json", "opencode.jsonc")
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)
"""A text, a comment, or a comma that strict JSON does not have."""


def refuse_plugins(cwd: Path) -> None:
    """Raises Unavailable."""
    found = next(_plugins(cwd.absolute()), None)
    if found is not None:
        raise Unavailable(
            f"OpenCode would run a plug-in of this repository: {found}",
            hint="Have another agent do it; or, if you know the plug-in, configure an agent with kind = "
            '"acp" and program = "opencode", which keeps nothing from it.',
        )


def _plugins(cwd: Path) -> Iterator[Path]:
    for folder in folders_of(cwd):
        own = folder / ".opencode"
        for name in _FOLDERS:
            if (own / name).is_dir():
                yield from (one for one in sorted((own / name).iterdir()) if one.suffix in _ENDINGS)
        for path in (place / name for place in (folder, own) for name in _CONFIGS):
            if path.is_file() and _names_plugins(path):
                yield path


def _names_plugins(path: Path) -> bool:
    seen: list[tuple[str, Any]] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen.extend(pairs)
        return dict(pairs)

    try:
        text = path.read_text(encoding="utf-8-sig")
        for _ in range(2):  # a comma may be followed by a comment
            text = _TOKEN.sub(lambda token: token[0] if token[0].startswith('"') else " ", text)
        json.loads(text, object_pairs_hook=note, strict=False)
    except (OSError, ValueError, RecursionError):
        return True
    return any(key in _KEYS and value not in ([], None, {}) for key, value in seen)
