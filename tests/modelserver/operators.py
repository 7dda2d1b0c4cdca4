"""The real clients with the scripted model, set up as an operator would have them: for backends and for whole loops.

with ModelServer([Script("atom A1", [shell("codex", "echo a > a"), DONE])]) as server:
    project = a_project(tmp_path, atom("A1"), config=config_of("codex"), environ=environ_of("codex", server), …)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.contract import Backend
from aotloop.agents.registry import Settings, backend
from tests.agents.assignments import worker_answer
from tests.modelserver import Answer, Call, ModelServer, ToolCall, tool
from tests.modelserver.clients import CLIENTS, needs

DONE = Answer(json.loads(worker_answer()))
KEY = "sk-scripted"
MODELS = "OPENCODE_MODELS_PATH"
NO_MODELS = Path(__file__).with_name("no_models.json")
"""It knows thousands, and reads about all of them at each start."""


def _clients(*names: str) -> pytest.MarkDecorator:
    params = [pytest.param(name, marks=needs(name)) for name in names]
    return pytest.mark.parametrize("client", params)


each_client = _clients(*CLIENTS)
most_clients = _clients("claude", "codex")
"""Without the one that takes longest to start: where it is our doing that counts, and not the client's."""


def each_client_with(*names: str, values: Sequence[tuple[Any, ...]], once: tuple[Any, ...]) -> pytest.MarkDecorator:
    """Every client with each of these values; the one that takes longest to start with one of them."""
    params = [
        pytest.param(client, *given, marks=needs(client))
        for client in CLIENTS
        for given in values
        if client != "opencode" or given == once
    ]
    return pytest.mark.parametrize(("client", *names), params)


def shell(client: str, command: str) -> Call:
    match client:
        case "claude":
            return Call(tool("Bash", command=command, description="a command"))
        case "codex":
            return Call(tool("exec_command", cmd=command))
        case _:
            return Call(tool("bash", command=command, description="a command"))


def write(client: str, path: Path, content: str) -> Call:
    """With the client's own tool for files, by an absolute path."""
    match client:
        case "claude":
            return Call(tool("Write", file_path=str(path), content=content))
        case "codex":
            return shell(client, f"printf %s '{content}' > {path}")
        case _:
            return Call(tool("write", filePath=str(path), content=content))


def patch(client: str, path: Path, content: str) -> Call:
    """As `write`, but by a tool of which the client tells that it changes a file."""
    if client != "codex":
        return write(client, path, content)
    text = f"*** Begin Patch\n*** Add File: {path.name}\n+{content.rstrip()}\n*** End Patch\n"
    return Call(ToolCall("apply_patch", text))


def backend_of(client: str, **more: Any) -> Backend:
    if client == "codex":
        more = {"model": "gpt-5.5", **more}  # one that it knows: others get no apply_patch
    if client == "opencode":
        more = {"model": "scripted/scripted", "pass_env": (MODELS,), **more}
    return backend(client, Settings(program=str(CLIENTS[client]), **more))


def config_of(client: str, more: str = "") -> str:
    own = f'\nmodel = "scripted/scripted"\npass_env = ["{MODELS}"]' if client == "opencode" else ""
    return f'agent = "{client}"\n[agents.{client}]\nprogram = "{CLIENTS[client]}"{own}\n{more}'


def environ_of(client: str, server: ModelServer, **more: str) -> dict[str, str]:
    """What an operator has set; with the server as proxy, so that `server.elsewhere` shows whom else it talks to."""
    proxies = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), server.url)
    surroundings = {**proxies, "NO_PROXY": "127.0.0.1", "AOT_CONFINE": "auto", **more}
    match client:
        case "claude":
            return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url, **surroundings}
        case "codex":
            return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1", **surroundings}
        case _:
            return {"OPENCODE_CONFIG_CONTENT": json.dumps(_provider(server)), MODELS: str(NO_MODELS), **surroundings}


def _provider(server: ModelServer) -> dict[str, object]:
    options = {"baseURL": f"{server.url}/v1", "apiKey": KEY}
    model = {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": model}}
    return {"provider": {"scripted": provider}, "small_model": "scripted/scripted"}
