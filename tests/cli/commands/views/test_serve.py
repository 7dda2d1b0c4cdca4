"""`aot serve`: what it refuses, what it prints and where, and what it costs those who do not use it."""

from __future__ import annotations

import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest

from aotloop.extras import install_command
from aotloop.process.ancestry import OF_A_CLIENT
from tests.cli.terminal import aot
from tests.patience import PATIENCE
from tests.web.browser import serving
from tests.web.requests import Client

WITHOUT = "import sys; sys.modules['uvicorn'] = None; from aotloop.cli.main import run; from aotloop.cli.error_handler"


def test_other_machines_need_tls_or_an_explicit_word(project: Path) -> None:
    assert project.is_dir()
    ran = aot("serve", "--host", "0.0.0.0")
    assert ran.code == 1
    assert "--tls-cert" in ran.err
    assert "--insecure" in ran.err
    assert "#token=" not in ran.err


@pytest.mark.parametrize("words", [("--tls-cert", "x"), ("--tls-cert", "x", "--tls-key", "y")])
def test_a_certificate_that_cannot_be_used_is_said_plainly(project: Path, words: tuple[str, ...]) -> None:
    assert project.is_dir()
    ran = aot("serve", *words)
    assert ran.code == 1
    assert "Traceback" not in ran.err


def test_an_attempt_of_a_loop_cannot_open_a_page(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert project.is_dir()
    monkeypatch.setenv("AOT_RUN_ID", "r")
    ran = aot("serve")
    assert (ran.code, "only a person" in ran.err) == (1, True)


@pytest.mark.parametrize("name", OF_A_CLIENT)
def test_the_agent_of_a_session_cannot_open_a_page_that_steers(
    project: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would read the token that is printed, and decide what only a person decides."""
    assert project.is_dir()
    monkeypatch.setenv(name, "1")
    ran = aot("serve")
    assert (ran.code, "only a person" in ran.err, "#token=" in ran.err) == (1, True, False)


def test_the_end_of_a_page_that_is_open_is_no_traceback(project: Path) -> None:
    with serving(project) as server:
        client = Client(server.port, server.token).log_in()
        watching = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        watching.request("GET", "/api/stream", headers={"Cookie": client.cookie})
        assert watching.getresponse().readline()
        server.process.send_signal(signal.SIGINT)
        out, err = server.process.communicate(timeout=PATIENCE)
        watching.close()
    assert (out, "The page is closed" in err, "Traceback" in err) == ("", True, False)


def test_a_missing_extra_is_named_with_its_command(project: Path) -> None:
    assert project.is_dir()
    code = f"{WITHOUT} import guarded; sys.exit(guarded(run, ['serve']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert install_command("web") in done.stderr


def test_other_commands_do_not_load_the_server(project: Path) -> None:
    assert project.is_dir()
    code = (
        "import sys; from aotloop.cli.main import run; run(['run', '--help']);"
        "print([name for name in ('starlette', 'uvicorn', 'aotloop.web') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_token_is_on_the_terminal_and_in_no_argument_variable_or_file(project: Path, own_home: Path) -> None:
    with serving(project) as server:
        own = Path("/proc") / str(server.process.pid)
        if own.is_dir():
            assert server.token.encode() not in (own / "cmdline").read_bytes()
        kept = [path for root in (project, own_home) for path in root.rglob("*") if path.is_file()]
        assert not any(server.token.encode() in path.read_bytes() for path in kept)
