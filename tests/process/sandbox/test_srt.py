"""Behind srt only named hosts can be reached, and the rest holds as behind bubblewrap. Skipped where srt is missing."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

from aotloop.core.model import Constraints
from aotloop.errors import Unavailable
from aotloop.process import blocking_run
from aotloop.process.output import Whole
from aotloop.process.own_programs import own_program
from aotloop.process.sandbox import Policy, in_force
from aotloop.process.sandbox.fence import Network
from aotloop.process.sandbox.resolved_fence import ResolvedFence
from aotloop.process.sandbox.srt import HOSTS, NEEDS, arguments, environment, hosts, settings
from aotloop.process.sandbox.thread_rules import has_scopes
from aotloop.process.spawn import start
from tests.loops import atom
from tests.modelserver import ModelServer, Script
from tests.modelserver.clients import SRT, needs
from tests.modelserver.operators import DONE, config_of, environ_of, shell
from tests.patience import PATIENCE, until
from tests.process.sandbox.escapes import HOLDS, through
from tests.process.sandbox.test_bubblewrap import ATTACKS
from tests.process.sandbox.worlds import World, a_world
from tests.runner.leftovers import leftovers
from tests.runner.projects import a_project

FENCE = ResolvedFence(here="/project", open=("/project",), closed=("/project/.git", "/elsewhere"), hidden=())
MISSING = [name for name in NEEDS if own_program(name) is None] + ([] if SRT else ["srt"])


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PATH. A copy: of what lies in a project, as ours does, no engine is taken."""
    if SRT is None:
        pytest.skip("not installed: srt; `make test-clients` installs it where it can")
    place = tmp_path_factory.mktemp("srt")
    shutil.copytree(SRT.parents[1], place / "node_modules", symlinks=True, ignore=_not_needed)
    return place / "node_modules" / ".bin"


def _not_needed(folder: str, names: list[str]) -> set[str]:
    is_top = folder.endswith("node_modules")
    return {name for name in names if is_top and name.startswith(("@openai", "opencode"))}


@pytest.fixture
def srt(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if MISSING:
        pytest.skip(f"not installed: {', '.join(MISSING)}; `make test-clients` installs it where it can")
    monkeypatch.setenv("PATH", f"{installed}{os.pathsep}{os.environ['PATH']}")
    try:
        in_force(Policy(engine="srt"))
    except Unavailable as error:
        pytest.skip(error.message)


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    class Hello(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Hello) as found:
        threading.Thread(target=found.serve_forever, daemon=True).start()
        yield found
        found.shutdown()


def behind(world: World, command: str, network: Network = "all") -> tuple[int | None, str, str]:
    (world.worktree / "tmp").mkdir(exist_ok=True)
    fence = world.confinement("srt").under(Policy(engine="srt", network=network))
    ran = world.run(fence, f"export TMPDIR=$PWD/tmp; {command}")
    return ran.status, ran.out, ran.err


# --- with the real srt --------------------------------------------------------------------------------------------

real = pytest.mark.client


@real
@pytest.mark.usefixtures("srt")
def test_a_named_host_is_reached_and_no_other(tmp_path: Path, server: HTTPServer) -> None:
    world = a_world(tmp_path)
    ask = "python3 -c \"import urllib.request as r; print(r.urlopen('http://127.0.0.1:{port}').read().decode())\""
    command = ask.format(port=server.server_port)
    assert behind(world, command, (f"127.0.0.1:{server.server_port}",))[:2] == (0, "hello\n")
    status, out, err = behind(world, command, ("example.com",))
    assert (status, out) == (1, ""), err
    assert behind(world, f"NO_PROXY= no_proxy= {command}", (f"127.0.0.1:{server.server_port}",))[:2] == (0, "hello\n")
    status, out, err = behind(world, f"HTTP_PROXY= http_proxy= {command}", ("example.com",))
    assert (status, out) == (1, ""), "a process that avoids the proxy reaches nothing"


@real
@pytest.mark.usefixtures("srt")
def test_without_a_named_host_nothing_is_reached(tmp_path: Path, server: HTTPServer) -> None:
    world = a_world(tmp_path)
    ask = f"python3 -c \"import urllib.request as r; r.urlopen('http://127.0.0.1:{server.server_port}')\""
    assert behind(world, ask)[0] == 1
    assert behind(world, "python3 -c \"import socket; socket.create_connection(('127.0.0.1', 22))\"")[0] == 1


@real
@pytest.mark.usefixtures("srt")
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_fails_and_changes_nothing(tmp_path: Path, attack: str) -> None:
    """A mount, and a file in a hidden folder, are the process's own, and gone with it."""
    world = a_world(tmp_path)
    before = _picture(world)
    status = behind(world, attack)[0]
    assert status is not None
    assert status != 0 or "test -e" not in attack, "a secret is there"
    assert _picture(world) == before


def _picture(world: World) -> dict[Path, tuple[object, ...]]:
    paths = [path for top in (world.checkout, world.home) for path in top.rglob("*")]
    found = {path: path.lstat() for path in paths}
    return {path: (one.st_mode, one.st_mtime_ns, one.st_size, one.st_nlink) for path, one in found.items()}


@real
@pytest.mark.usefixtures("srt")
@pytest.mark.skipif(not has_scopes(), reason="older kernels have no scopes of Landlock")
def test_it_stops_what_the_table_says() -> None:
    assert through("srt") == {name for name, held in HOLDS.items() if "srt" not in held}


@real
@pytest.mark.usefixtures("srt")
def test_the_worktree_is_open_also_where_srt_itself_would_close_it(tmp_path: Path) -> None:
    """Files of clients and of git are work like any other; and nothing is left there by srt."""
    world = a_world(tmp_path)
    made = "mkdir .claude .git && echo x > .claude/settings.json && echo x > .git/config && echo x > .mcp.json"
    status, out, err = behind(world, f"{made} && mktemp && ls -A")
    assert status == 0, err
    assert {".claude", ".git", ".mcp.json", "file", "tmp"} == set(out.split()[1:])
    assert {path.name for path in world.worktree.iterdir()} == {".claude", ".git", ".mcp.json", "file", "tmp"}


@real
@pytest.mark.usefixtures("srt")
def test_it_leaves_nothing_when_it_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = a_world(tmp_path)
    fence = world.confinement("srt").under(Policy(engine="srt"))
    with TemporaryDirectory() as temporary:  # paths of sockets have at most 107 characters
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        process = start(world.spec(fence, "touch begun; sleep 1000"))
        until((world.worktree / "begun").exists, "it does not begin")
        assert [*Path(temporary).iterdir()]
        process.let_go()
        assert [*Path(temporary).iterdir()] == []
    for pipe in process.outputs.values():
        pipe.close()
    assert {path.name for path in world.worktree.iterdir()} == {"begun", "file"}


@real
@pytest.mark.usefixtures("srt")
def test_a_variable_that_steers_programs_steers_only_the_command(tmp_path: Path) -> None:
    """Srt itself runs outside of the fence."""
    world = a_world(tmp_path)
    (world.worktree / "evil.js").write_text(f"require('fs').writeFileSync('{world.home}/escaped', 'x')")
    (world.worktree / "evil.sh").write_text(f"echo x > {world.home}/escaped\n")
    fence = world.confinement("srt").under(Policy(engine="srt"))
    spec = world.spec(fence, "echo $NODE_OPTIONS $BASH_ENV; env | grep -c BASH_FUNC; bash -c true; exit 0")
    evil = {
        "NODE_OPTIONS": f"--require {world.worktree}/evil.js",
        "BASH_ENV": f"{world.worktree}/evil.sh",
        "BASH_FUNC_bwrap%%": f"() {{ echo x > {world.home}/escaped; }}",
    }
    out = Whole()
    blocking_run.run(replace(spec, env={**spec.env, **evil}), out=out)
    printed = out.text()
    assert str(world.worktree) in printed, "the command has them"
    assert not (world.home / "escaped").exists()


# --- its settings and its command, without it -----------------------------------------------------------------------


def test_each_preset_stands_for_its_hosts() -> None:
    for name, meant in HOSTS.items():
        assert hosts((name, "example.com")) == [*meant, "example.com"]
    assert hosts("none") == hosts("all") == []


def test_what_is_closed_in_an_open_place_is_closed(tmp_path: Path) -> None:
    for name in ("work/.git", "home/.npm/_logs"):
        (tmp_path / name).mkdir(parents=True)
    work = str(tmp_path / "work")
    fence = replace(FENCE, here=work, open=(work,), closed=(f"{work}/.git", str(tmp_path / "other")))
    found = settings(fence, ("pypi",), str(tmp_path / "home"))["filesystem"]
    assert found["allowWrite"] == [work]
    assert found["denyWrite"] == [f"{work}/.git", str(tmp_path / "home/.npm/_logs")]


def test_no_secret_is_on_the_command_line() -> None:
    env = {"PATH": "/usr/bin", "CLAUDE_CODE_OAUTH_TOKEN": "s1", "NODE_AUTH_TOKEN": "s2", "NODE_OPTIONS": "--x"}
    words = arguments("/usr/bin/srt", "/dev/fd/9", FENCE, env, ("claude",))
    assert words[-2:] == ("PATH=/usr/bin", "NODE_OPTIONS=--x")
    assert not {"s1", "s2"} & set(" ".join(words).replace("=", " ").split())
    assert environment(env, "/own") == {"PATH": "/own", "CLAUDE_CODE_OAUTH_TOKEN": "s1", "NODE_AUTH_TOKEN": "s2"}


def test_a_private_address_that_is_named_is_asked_of_the_proxy() -> None:
    words = arguments("/usr/bin/srt", "/dev/fd/9", FENCE, {}, ("10.1.2.3",))
    direct = next(word for word in words if word.startswith("NO_PROXY=")).removeprefix("NO_PROXY=").split(",")
    assert "10.0.0.0/8" not in direct
    assert {"127.0.0.1", "192.168.0.0/16"} <= set(direct)
    assert not [word for word in arguments("/usr/bin/srt", "/f", FENCE, {}, ("a.com",)) if "NO_PROXY" in word]


# --- whole runs with real clients ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("srt")
@pytest.mark.parametrize("client", [pytest.param(name, marks=needs(name)) for name in ("claude", "opencode")])
def test_a_client_reaches_its_service_and_its_commands_reach_nothing_else(
    tmp_path: Path, own_home: Path, client: str, server: HTTPServer
) -> None:
    ask = f"python3 -c \"import urllib.request as r; r.urlopen('http://127.0.0.1:{server.server_port}', timeout=9)\""
    with ModelServer([Script(".", [shell(client, f"{ask} > a 2>&1; echo tried $? >> a"), DONE])]) as service:
        settings_file = own_home / ".config" / "aotloop" / "config.toml"
        settings_file.parent.mkdir(parents=True)
        settings_file.write_text(f'network = ["{service.url.removeprefix("http://")}"]\n')
        environ = environ_of(client, service, AOT_SANDBOX="auto", PATH=os.environ["PATH"])
        limits = Constraints(max_total_attempts=1)
        config = config_of(client)
        project = a_project(
            tmp_path, atom("A1"), base_case="grep -q tried a", config=config, environ=environ, constraints=limits
        )
        ran = project.aot("run", "--yes", patience=PATIENCE)
    assert ran.code == 0, ran.out + ran.err
    assert "sandbox: srt" in ran.err
    assert service.lost == []
    assert (project.root / "a").read_text().endswith("tried 1\n")
    assert leftovers(project) == []
