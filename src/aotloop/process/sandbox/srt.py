"""The sandbox runtime of npm (`srt`) as an engine: like bubblewrap, and only named hosts can be reached.

It runs the command behind bubblewrap, and lets its connections out through a proxy of its own. Only this module knows
its options and its settings.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from aotloop.process.sandbox.fence import Confinement, Network
from aotloop.process.sandbox.home_folders import ours, prepare_state, secrets, state_of

PROGRAM = "srt"
NEEDS = ("bwrap", "socat", "rg")
"""Other programs that it starts."""
INSTALL = "npm install -g @anthropic-ai/sandbox-runtime, and the packages bubblewrap, socat and ripgrep"

HOSTS: Mapping[str, tuple[str, ...]] = {
    "claude": ("api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"),
    "codex": ("api.openai.com", "auth.openai.com", "chatgpt.com"),
    "opencode": ("opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"),
    "gemini": ("generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"),
    "pypi": ("pypi.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org",),
    "github": ("github.com", "api.github.com", "codeload.github.com", "*.githubusercontent.com"),
}
"""Presets: a name in a list of hosts stands for these."""


def hosts(network: Network) -> list[str]:
    if isinstance(network, str):
        return []
    return list(dict.fromkeys(host for name in network for host in HOSTS.get(name, (name,))))


def arguments(program: str, settings: str, path: str | None = None) -> tuple[str, ...]:
    """Everything before the command. `settings`: the path of its settings. `path`: PATH of the command, not of srt."""
    return (program, "--settings", settings, "--", *(("/usr/bin/env", f"PATH={path}") if path is not None else ()))


def settings(confinement: Confinement, env: Mapping[str, str]) -> dict[str, Any]:
    prepare_state(confinement.client, env)
    writable = [os.path.realpath(os.path.expanduser(path)) for path in confinement.policy.writable]  # noqa: PTH111
    hidden = [*secrets(env, confinement.client), *_existing(ours(env))]
    open_ = [*(os.path.realpath(path) for path in confinement.open), *state_of(confinement.client, env), *writable]
    return {
        "network": {"allowedDomains": hosts(confinement.policy.network), "deniedDomains": [], "strictAllowlist": True},
        "filesystem": {
            "denyRead": [path for path in hidden if path not in writable],
            "allowWrite": list(_existing(open_)),
            "denyWrite": [],
        },
    }


def _existing(paths: list[str]) -> Iterator[str]:
    yield from (path for path in dict.fromkeys(paths) if os.path.exists(path))  # noqa: PTH110
