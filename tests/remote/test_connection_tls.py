"""Certificates come from Temporal's own profiles: runner and worker use them, and a stranger is not let in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops import atom
from tests.remote.cluster import Server
from tests.remote.projects import a_remote_project
from tests.remote.tls_proxy import certificates, tls_proxy

pytestmark = pytest.mark.temporal


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
