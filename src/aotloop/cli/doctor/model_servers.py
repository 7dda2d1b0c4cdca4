"""Checks for model servers on the usual ports of this machine, and says how an agent is made of one."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.agents.openai.local_servers import USUAL_PORTS, ModelsServer, local_servers
from aotloop.cli.doctor.diagnosis import Finding
from aotloop.text.phrases import listed

ABOUT = "models on this machine"
WHAT = "model servers"


def model_server_findings() -> Iterator[Finding]:
    found = local_servers()
    for server in found:
        yield _finding(server)
    if not found:
        ports = ", ".join(f"{port} ({name})" for port, name in USUAL_PORTS.items())
        yield Finding(about=ABOUT, what=WHAT, said=f"none on the ports {ports}", ok=None)


def _finding(server: ModelsServer) -> Finding:
    models = listed(server.models) if server.models else "no model"
    example = f'base_url = "{server.base_url}"' + (f', model = "{server.models[0]}"' if server.models else "")
    return Finding(
        about=ABOUT,
        what=f"{server.base_url} (the port of {server.name})",
        said=models,
        ok=True if server.models else None,
        fix=f'To use it: [agents.local] with kind = "openai", {example}, in aot.toml.',
        facts={"base_url": server.base_url, "models": list(server.models)},
    )
