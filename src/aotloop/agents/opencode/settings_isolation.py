"""OpenCode sees keys and settings in a private file only, and does not start where a repository brings plug-ins."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aotloop.agents.client.folders import folders_of
from aotloop.errors import Unavailable

VARIABLE = "OPENCODE_CONFIG"

PROVIDERS: Mapping[str, str] = MappingProxyType(
    {
        "ANTHROPIC_API_KEY": "anthropic",
        "OPENAI_API_KEY": "openai",
        "GEMINI_API_KEY": "google",
        "GOOGLE_API_KEY": "google",
        "OPENROUTER_API_KEY": "openrouter",
        "MISTRAL_API_KEY": "mistral",
        "GROQ_API_KEY": "groq",
        "DEEPSEEK_API_KEY": "deepseek",
        "XAI_API_KEY": "xai",
        "OPENCODE_API_KEY": "opencode",
    }
)
"""The provider to which a variable's key belongs."""


def in_a_file(
    config: Mapping[str, Any], env: Mapping[str, str], folder: Path, pass_env: Collection[str]
) -> dict[str, str]:
    """The variables for the start. Variables that the operator passes on explicitly stay among them."""
    keys = {name: env[name] for name in PROVIDERS if env.get(name)}
    file = folder / "settings.json"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as content:
        json.dump({**config, "provider": _providers(config.get("provider"), keys)}, content)
    kept = {name: value for name, value in env.items() if name not in keys or name in pass_env}
    return {**kept, VARIABLE: str(file)}


def _providers(given: Any, keys: Mapping[str, str]) -> dict[str, Any]:
    """A person's settings for a provider come before a variable."""
    providers: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    for name, key in keys.items():
        provider = providers.get(PROVIDERS[name], {})
        if isinstance(provider, dict):
            options = provider.get("options", {})
            options = {"apiKey": key, **options} if isinstance(options, dict) else options
            providers[PROVIDERS[name]] = {**provider, "options": options}
    return providers


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
            hint="Use another agent. Or trust the plug-in: configure an agent with kind = "
            '"acp" and program = "opencode".',
        )


def _plugins(cwd: Path) -> Iterator[Path]:
    for folder in folders_of(cwd):
        own = folder / ".opencode"
        for name in _FOLDERS:
            if (own / name).is_dir():
                yield from (file for file in sorted((own / name).iterdir()) if file.suffix in _ENDINGS)
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
