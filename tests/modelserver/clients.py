"""Real coding agents, where they are and how they are started so that they talk to the scripted model and nobody else.

None of them sees the user's settings: each has a home of its own. Options: docs/development/model-server.md.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.modelserver import ModelServer
from tests.patience import PATIENCE

_REPOSITORY = Path(__file__).parents[2]


def _found(variable: str, name: str) -> Path | None:
    """Never on PATH: what a user has installed is not for tests."""
    named = os.environ.get(variable)
    bundled = importlib.util.find_spec("claude_agent_sdk") if name == "claude" else None
    places = [Path(named)] if named else [_REPOSITORY / ".venv/clients/node_modules/.bin" / name]
    if bundled is not None and bundled.origin and not named:
        places.append(Path(bundled.origin).parent / "_bundled/claude")
    return next((place for place in places if place.is_file()), None)


CLAUDE = _found("AOT_TEST_CLAUDE", "claude")
CODEX = _found("AOT_TEST_CODEX", "codex")
OPENCODE = _found("AOT_TEST_OPENCODE", "opencode")
CLIENTS: dict[str, Path | None] = {"claude": CLAUDE, "codex": CODEX, "opencode": OPENCODE}

SRT = _found("AOT_TEST_SRT", "srt")
"""No client: an engine of the sandbox, which is installed with them."""


def needs(*names: str) -> pytest.MarkDecorator:
    """The test drives these clients: `make test-clients` runs it, `make test` does not."""
    return pytest.mark.client(*names)


needs_claude = needs("claude")
needs_codex = needs("codex")
needs_opencode = needs("opencode")


@dataclass(frozen=True, kw_only=True)
class Launch:
    command: Sequence[str | Path]
    env: Mapping[str, str]


def claude(server: ModelServer, home: Path, *options: str, schema: Mapping[str, Any] | None = None) -> Launch:
    """The prompt comes on stdin."""
    printing = ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]
    alone = ["--setting-sources", "project", "--strict-mcp-config", "--settings", '{"disableAllHooks":true}']
    answering = ["--json-schema", json.dumps(schema)] if schema else []
    env = {
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
        "CLAUDE_CODE_TMPDIR": str(home / "tmp"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "IS_SANDBOX": "1",
    }
    return Launch(command=[there(CLAUDE), *printing, *alone, *answering, *options], env=_env(server, home) | env)


def codex(server: ModelServer, home: Path, *options: str, schema: Mapping[str, Any] | None = None) -> Launch:
    """The prompt comes on stdin."""
    own = home / "codex"
    own.mkdir(exist_ok=True)
    provider = {
        "name": "scripted",
        "base_url": f"{server.url}/v1",
        "wire_api": "responses",
        "env_key": "SCRIPTED_API_KEY",
        "request_max_retries": 0,
        "stream_max_retries": 0,
    }
    settings = {
        "model": "gpt-5.5",  # one that it knows: others get no apply_patch
        "model_provider": "scripted",
        "analytics.enabled": False,
        "features.plugins": False,
        "features.unbounded_connection_retries": False,
    } | {f"model_providers.scripted.{key}": value for key, value in provider.items()}
    configured = [part for key, value in settings.items() for part in ("-c", f"{key}={json.dumps(value)}")]
    answering = []
    if schema:
        (home / "schema.json").write_text(json.dumps(schema))
        answering = ["--output-schema", str(home / "schema.json")]
    env = _env(server, home) | {"CODEX_HOME": str(own), "SCRIPTED_API_KEY": "scripted"}
    bypass = "--dangerously-bypass-approvals-and-sandbox"
    return Launch(command=[there(CODEX), "exec", "--json", bypass, *configured, *answering, *options, "-"], env=env)


def opencode(server: ModelServer, home: Path, *arguments: str) -> Launch:
    """`run …` or `acp`; with `run` the prompt comes on stdin."""
    model = {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {
            "baseURL": f"{server.url}/v1",
            "apiKey": "scripted",
            "chunkTimeout": 60_000,
            "headerTimeout": 60_000,
        },
        "models": {"scripted": model},
    }
    config = {
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "provider": {"scripted": provider},
        "permission": {"*": "allow", "external_directory": "deny"},
        "snapshot": False,
        "share": "disabled",
        "autoupdate": False,
    }
    places = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    env = {
        "OPENCODE_CONFIG_CONTENT": json.dumps(config),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        "NPM_CONFIG_REGISTRY": f"{server.url}/npm/",
    }
    return Launch(command=[there(OPENCODE), *arguments], env=_env(server, home) | places | env)


def there(client: Path | None) -> Path:
    if client is None:
        raise FileNotFoundError("this client is not installed: its test should have been skipped")
    return client


def _env(server: ModelServer, home: Path) -> dict[str, str]:
    """With the server as proxy, so that `server.elsewhere` shows whom else they want to talk to."""
    proxies = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), server.url)
    direct = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **proxies, **direct}


@dataclass(frozen=True, kw_only=True)
class Finished:
    code: int
    events: Sequence[dict[str, Any]]
    """One for each line of stdout."""
    errors: str


def finished(launch: Launch, cwd: Path, prompt: str) -> Finished:
    with running(launch, cwd) as process:
        output, errors = process.communicate(prompt, timeout=PATIENCE)
    events = [json.loads(line) for line in output.splitlines()]
    return Finished(code=process.returncode, events=events, errors=errors)


@contextlib.contextmanager
def running(launch: Launch, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """In a session of its own; nothing of that is left afterwards."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        launch.command, cwd=cwd, env=launch.env, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
