"""OpenCode gets keys and settings in a file that nobody else can read, not in variables, which its commands would see.

The file lies in the attempt's own home for the client, and is gone with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
"""Whose key a variable holds."""


def in_a_file(
    config: Mapping[str, Any], env: Mapping[str, str], folder: Path, pass_env: Collection[str]
) -> dict[str, str]:
    """The variables to start it with. What the operator passes on explicitly stays among them."""
    keys = {name: env[name] for name in PROVIDERS if env.get(name)}
    file = folder / "settings.json"
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as content:
        json.dump({**config, "provider": _providers(config.get("provider"), keys)}, content)
    kept = {name: value for name, value in env.items() if name not in keys or name in pass_env}
    return {**kept, VARIABLE: str(file)}


def _providers(given: Any, keys: Mapping[str, str]) -> dict[str, Any]:
    """What a person says of a provider comes before a variable."""
    providers: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    for name, key in keys.items():
        provider = providers.get(PROVIDERS[name], {})
        if isinstance(provider, dict):
            options = provider.get("options", {})
            options = {"apiKey": key, **options} if isinstance(options, dict) else options
            providers[PROVIDERS[name]] = {**provider, "options": options}
    return providers
