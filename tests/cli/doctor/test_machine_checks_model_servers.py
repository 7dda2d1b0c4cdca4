"""`aot doctor` names the models of servers on this machine, and says how to use one."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from aotloop.agents.openai import local_servers
from aotloop.cli.doctor.machine_checks import model_server_findings
from tests.modelserver import ModelServer


def test_a_server_is_told_with_its_models_and_how_to_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([]) as server:
        port = urlsplit(server.url).port
        monkeypatch.setattr(local_servers.local_servers, "__defaults__", ({port: "Ollama"},))
        (finding,) = model_server_findings()
    assert finding.subject == f"{server.url}/v1 (the port of Ollama)"
    assert finding.result == "scripted"
    assert f'kind = "openai", base_url = "{server.url}/v1", model = "scripted"' in (finding.fix or "")


def test_no_server_is_worth_knowing_and_no_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_servers.local_servers, "__defaults__", ({9: "Ollama"},))
    (finding,) = model_server_findings()
    assert finding.ok is None
    assert "11434 (Ollama)" in finding.result
