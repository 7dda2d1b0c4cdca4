"""Certificates and API keys come from Temporal's own profiles: runner and worker use them; strangers stay outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops import atom
from tests.remote.cluster import Server, WorkerProcess
from tests.remote.projects import a_remote_project
from tests.remote.tls_proxy import certificates, keyed_proxy, tls_proxy

pytestmark = pytest.mark.temporal

API_KEY = "0ur-key"


def a_profile(folder: Path, port: int, name: str) -> str:
    return (
        f'[profile.{name}]\naddress = "127.0.0.1:{port}"\nnamespace = "default"\n'
        f'[profile.{name}.tls]\nclient_cert_path = "{folder}/{name}.pem"\nclient_key_path = "{folder}/{name}.key"\n'
        f'server_ca_cert_path = "{folder}/ca.pem"\nserver_name = "localhost"\n'
    )


@pytest.mark.parametrize(("name", "code"), [("client", 0), ("stranger", 6)])
def test_only_a_client_with_a_certificate_is_let_in(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, name: str, code: int
) -> None:
    certificates(tmp_path)
    with tls_proxy(tmp_path, server.port) as port:
        (tmp_path / "temporal.toml").write_text(a_profile(tmp_path, port, name))
        work = atom("A1", run="echo a > a")
        with a_remote_project(tmp_path, server, work, base_case="test -f a") as (project, worker):
            del project.environ["TEMPORAL_ADDRESS"]
            project.environ["TEMPORAL_CONFIG_FILE"] = str(tmp_path / "temporal.toml")
            own = tmp_path / "own" / "aotloop" / "config.toml"
            own.write_text(own.read_text().replace("[remote]\n", f'[remote]\nprofile = "{name}"\n'))
            if code == 0:
                worker.end()
                monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(tmp_path / "temporal.toml"))
                worker.settings = worker.settings.replace("[remote]\n", '[remote]\nprofile = "client"\n')
                worker.has_profile = True
                worker.start()
            ran = project.aot("run", "--yes")
            assert ran.code == code, ran.out + ran.err
            assert "Traceback" not in ran.err


@pytest.mark.parametrize(("key", "code"), [(API_KEY, 0), ("0ther-key", 6)])
def test_only_a_client_with_the_api_key_is_let_in(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch, key: str, code: int
) -> None:
    """A server in front asks each request for the key; requests name their namespace, as Temporal Cloud needs it."""
    certificates(tmp_path)
    with keyed_proxy(tmp_path, server.port, API_KEY) as (port, seen):
        (tmp_path / "temporal.toml").write_text(
            f'[profile.cloud]\naddress = "127.0.0.1:{port}"\nnamespace = "default"\napi_key = "{API_KEY}"\n'
            f'[profile.cloud.tls]\nserver_ca_cert_path = "{tmp_path}/ca.pem"\nserver_name = "localhost"\n'
        )
        monkeypatch.setenv("TEMPORAL_CONFIG_FILE", str(tmp_path / "temporal.toml"))
        work = atom("A1", run="echo a > a")
        settings = 'profile = "cloud"'
        worker = WorkerProcess(server, tmp_path / "worker", {"project": tmp_path / "project"}, "", has_profile=True)
        worker.settings = f"[remote]\n{settings}\n"
        worker.folder.mkdir()
        with a_remote_project(tmp_path, server, work, base_case="test -f a", settings=settings, worker=worker) as (
            project,
            _,
        ):
            del project.environ["TEMPORAL_ADDRESS"]
            project.environ["TEMPORAL_CONFIG_FILE"] = str(tmp_path / "temporal.toml")
            project.environ["TEMPORAL_API_KEY"] = key  # it has precedence over the profile
            ran = project.aot("run", "--yes")
            assert (ran.code, "Traceback" in ran.err) == (code, False), ran.out + ran.err
            assert key not in ran.out + ran.err
    assert {one["temporal-namespace"] for one in seen if "temporal-namespace" in one} == {"default"}
