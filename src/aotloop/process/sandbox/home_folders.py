"""Folders of a home by their meaning: what belongs to us, what is a secret, and what a client keeps for itself.

Two tables, and nothing else knows such names. A path that begins with `$` stands for the value of a variable.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

SECRETS = (
    "~/.ssh",
    "~/.gnupg",
    "~/.aws",
    "~/.azure",
    "~/.config/gcloud",
    "~/.config/doctl",
    "~/.config/gh",
    "~/.config/glab-cli",
    "~/.config/hub",
    "~/.config/op",
    "~/.config/temporalio",
    "~/.config/Bitwarden CLI",
    "~/.config/rclone",
    "~/.config/sops",
    "~/.kube",
    "~/.docker",
    "~/.netrc",
    "~/.git-credentials",
    "~/.config/git/credentials",
    "~/.npmrc",
    "~/.yarnrc.yml",
    "~/.pypirc",
    "~/.gem/credentials",
    "~/.cargo/credentials",
    "~/.cargo/credentials.toml",
    "~/.m2/settings.xml",
    "~/.gradle/gradle.properties",
    "~/.terraform.d",
    "~/.terraformrc",
    "~/.vault-token",
    "~/.pgpass",
    "~/.my.cnf",
    "~/.password-store",
    "~/.local/share/keyrings",
    "~/.local/share/kwalletd",
    "~/.pki",
    "~/.Xauthority",
    "~/.ICEauthority",
    "~/.bash_history",
    "~/.zsh_history",
    "~/.python_history",
    "~/.psql_history",
    # Browsers and mail: cookies and saved passwords.
    "~/.mozilla",
    "~/.thunderbird",
    "~/.config/google-chrome",
    "~/.config/google-chrome-beta",
    "~/.config/chromium",
    "~/.config/BraveSoftware",
    "~/.config/microsoft-edge",
    "~/.config/opera",
    "~/.config/vivaldi",
    "~/snap/firefox",
    "~/snap/chromium",
    "~/.var/app",
    "~/Library/Keychains",
)

CLIENTS: Mapping[str, tuple[str, ...]] = {
    "claude": ("~/.claude/", "~/.claude.json", "$CLAUDE_CONFIG_DIR/"),
    "codex": ("~/.codex/", "$CODEX_HOME/"),
    "opencode": (
        *("~/.local/share/opencode/", "~/.local/state/opencode/", "~/.config/opencode/", "~/.cache/opencode/"),
        *("$XDG_DATA_HOME/opencode/", "$XDG_STATE_HOME/opencode/", "$XDG_CONFIG_HOME/opencode/"),
        *("$XDG_CACHE_HOME/opencode/",),
    ),
    "gemini": ("~/.gemini/",),
    "qwen": ("~/.qwen/",),
    "cursor-agent": ("~/.cursor/", "~/.config/cursor/"),
    "copilot": ("~/.copilot/", "~/.config/github-copilot/"),
    "aider": ("~/.aider/", "~/.aider.conf.yml"),
    "goose": ("~/.config/goose/", "~/.local/share/goose/", "~/.local/state/goose/"),
    "amp": ("~/.config/amp/", "~/.local/share/amp/"),
    "crush": ("~/.config/crush/", "~/.local/share/crush/"),
    "kimi": ("~/.kimi/",),
    "vibe": ("~/.vibe/",),
}
"""The state of clients that we know, with their logins. A path that ends with `/` is a folder."""

_OF_CLAUDE = (
    *("settings.json", "settings.local.json", "CLAUDE.md", "commands/", "agents/", "skills/", "plugins/", "hooks/"),
    *("rules/", "output-styles/"),
)
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "claude": (
        *("~/.claude.json", "$CLAUDE_CONFIG_DIR/.claude.json"),
        *(f"{home}/{name}" for home in ("~/.claude", "$CLAUDE_CONFIG_DIR") for name in _OF_CLAUDE),
    ),
    "gemini": ("~/.gemini/settings.json", "~/.gemini/GEMINI.md", "~/.gemini/extensions/", "~/.gemini/commands/"),
    "qwen": ("~/.qwen/settings.json", "~/.qwen/QWEN.md", "~/.qwen/extensions/", "~/.qwen/commands/"),
    "cursor-agent": ("~/.cursor/mcp.json", "~/.cursor/hooks.json", "~/.cursor/cli-config.json", "~/.cursor/rules/"),
    "copilot": ("~/.copilot/config.json", "~/.copilot/mcp-config.json", "~/.copilot/agents/", "~/.copilot/hooks/"),
    "aider": ("~/.aider.conf.yml",),
    "goose": ("~/.config/goose/config.yaml",),
    "amp": ("~/.config/amp/settings.json",),
    "crush": ("~/.config/crush/crush.json",),
    "kimi": ("~/.kimi/config.toml", "~/.kimi/mcp.json"),
    "vibe": ("~/.vibe/config.toml",),
}
"""What a client obeys in the person's own sessions: hooks, servers, instructions. An attempt leaves none there."""

_LOGINS: Mapping[str, str] = {"claude": ".credentials.json"}
"""Clients whose state folder is private for each process, where the engine can do that. Only the login stays."""
_MADE_ANEW = frozenset(
    (
        *("projects", "todos", "tasks", "plans", "statsig", "telemetry", "debug", "logs", "cache", "sessions", "ide"),
        *("shell-snapshots", "session-env", "file-history", "paste-cache", "image-cache", "backups", "history.jsonl"),
    )
)
"""Data of the person's sessions in such a folder: a process sees none of it, and makes its own."""

Real = Callable[[str], str]
"""As `os.path.realpath`."""

_OURS = ("~/.config/aotloop", "$XDG_CONFIG_HOME/aotloop", "~/.local/share/aotloop", "$XDG_DATA_HOME/aotloop")


def ours(env: Mapping[str, str], real: Real = os.path.realpath) -> list[str]:
    """The person's settings of aotloop and all that the person accepted, whether it exists or not.

    Also those of our own environment: some clients get folders of their own in `env`.
    """
    return list(dict.fromkeys([*_real(_OURS, env, real), *_real(_OURS, os.environ, real)]))


def worktrees(env: Mapping[str, str], real: Real = os.path.realpath) -> list[str]:
    """The folder for worktrees and temporary files of attempts, unless the person chose another one."""
    return list(_real(("~/.cache/aot", "$XDG_CACHE_HOME/aot"), env, real))


def scratch_folders(env: Mapping[str, str], real: Real = os.path.realpath) -> list[str]:
    """Folders of all attempts and checks: logins that were lent lie there, answers, and sockets of what they test."""
    found = dict.fromkeys([*worktrees(env, real), *worktrees(os.environ, real)])
    return [f"{folder}/{name}" for folder in found for name in ("scratch", "worktrees")]


def secrets(env: Mapping[str, str], client: str | None, real: Real = os.path.realpath) -> list[str]:
    """Secrets that exist, and the state of all clients except this one."""
    others = (path for name, paths in CLIENTS.items() if name != client for path in paths)
    own = set(state_of(client, env, real))
    there = dict.fromkeys(path for _, path in _named((*SECRETS, *others), env) if os.path.lexists(path))
    return [path for path in dict.fromkeys(map(real, there)) if path not in own]


def state_of(client: str | None, env: Mapping[str, str], real: Real = os.path.realpath) -> list[str]:
    return list(_real(CLIENTS.get(client or "", ()), env, real))


def settings_of(client: str | None, env: Mapping[str, str]) -> list[str]:
    """Also everything else that lies in a private folder: programs, scripts that settings name, and what is new."""
    found = list(_real(SETTINGS.get(client or "", ()), env))
    for folder in private_folders(client, env):
        found += [os.path.realpath(path) for path in private_entries(folder) if path not in found]
    return found


def private_folders(client: str | None, env: Mapping[str, str]) -> list[str]:
    """The client's own folders, of which a process changes nothing but what `kept_open` says."""
    if client is None or client not in _LOGINS:
        return []
    return list(dict.fromkeys(path for written, path in _found(CLIENTS[client], env) if written.endswith("/")))


def private_entries(folder: str) -> list[str]:
    """What a process finds in its private folder: everything but data and the login."""
    with suppress(OSError):
        kept = _MADE_ANEW.union(_LOGINS.values())
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder)) if name not in kept]  # noqa: PTH208
    return []


def kept_open(client: str | None, env: Mapping[str, str], here: str) -> list[str]:
    """What stays: the login, and the conversations of a worktree, in which no session of the person works."""
    found = []
    for folder in private_folders(client, env):
        found.append(f"{folder}/{_LOGINS[client or '']}")
        if any(here.startswith(f"{place}/") for place in worktrees(env)):
            found.append(conversations_in(folder, here))
    return [path for path in found if _is_plain(path)]


def conversations_in(folder: str, here: str) -> str:
    """Where Claude Code keeps the conversations that it had in the folder `here`."""
    return f"{folder}/projects/{re.sub('[^a-zA-Z0-9]', '-', here)}"


def _is_plain(path: str) -> bool:
    """It exists, and is no link."""
    return os.path.exists(path) and not os.path.islink(path)  # noqa: PTH110, PTH114


def prepare_state(client: str | None, env: Mapping[str, str]) -> None:
    """Makes what is missing: in a home that is read-only, the client could not; and only what exists can be closed."""
    name = client or ""
    for written, path in _found((*CLIENTS.get(name, ()), *SETTINGS.get(name, ())), env):
        with suppress(OSError):
            if written.endswith("/"):
                Path(path).mkdir(mode=0o700, parents=True, exist_ok=True)
            elif not os.path.lexists(path):
                Path(path).write_text("{}\n" if written.endswith(".json") else "")


def client_in(argv: Iterable[str]) -> str | None:
    """The known client that a command of the settings names, also inside of a shell command or as `claude-code-acp`.

    Never ask this about arguments that hold a prompt: its words would open the state of a client.
    """
    for argument in argv:
        words = [argument]
        with suppress(ValueError):
            words += shlex.split(argument)
        for word in words:
            program = os.path.basename(word)  # noqa: PTH119 - any text, not only a path
            for name in CLIENTS:
                if program == name or program.startswith(f"{name}-"):
                    return name
    return None


def _real(paths: Iterable[str], env: Mapping[str, str], real: Real = os.path.realpath) -> Iterator[str]:
    yield from dict.fromkeys(real(path) for _, path in _named(paths, env))


def _found(paths: Iterable[str], env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for written, path in _named(paths, env):
        yield written, os.path.realpath(path)


def _named(paths: Iterable[str], env: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Links are not followed: that takes longer than all the rest, and most of them do not exist."""
    for written in paths:
        first, _, rest = written.partition("/")
        start = env.get("HOME", "") if first == "~" else env.get(first[1:], "")
        if start.startswith("/"):
            yield written, f"{start}/{rest}".rstrip("/")
