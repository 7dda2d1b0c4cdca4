"""A real Temporal development server and real workers, as processes of the tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from tests.patience import until

WITHOUT = "not installed: the program temporal; `make test-remote` installs it"


def program() -> str | None:
    beside = shutil.which("temporal", path=str(Path(sys.executable).parent))
    return beside or shutil.which("temporal")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@dataclass
class Server:
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        found = program()
        assert found is not None
        options = ("--headless", "--port", str(self.port), "--log-level", "error")
        argv = (found, "server", "start-dev", *options, "--db-filename", str(self.folder / "server.db"))
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(self._answers, "the server does not answer")

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return True
        except OSError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def a_server(folder: Path) -> Iterator[Server]:
    folder.mkdir(parents=True, exist_ok=True)
    server = Server(folder, free_port())
    server.start()
    try:
        yield server
    finally:
        server.kill()


@dataclass
class WorkerProcess:
    """`aot worker` with a home and settings of its own."""

    server: Server
    folder: Path
    repositories: dict[str, Path]
    queue: str
    agents: tuple[str, ...] = ("shell",)
    slots: int = 4
    settings: str = ""
    has_profile: bool = False
    """Its settings say where the server is."""
    is_confined: bool = False
    """Behind the fence. Most agents of these tests leave marks where a confined one can make nothing."""
    inside: tuple[str, ...] = ()
    """Words before its command: for a network of its own, say."""
    address: str | None = None
    """Of the server, if it sees it at another one."""
    environ: dict[str, str] = field(default_factory=dict)
    """Of the worker alone: keys of clients, say."""
    process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def start(self, *words: str) -> None:
        where = self.folder / "settings" / "aotloop"
        where.mkdir(parents=True, exist_ok=True)
        known = "".join(f'"{name}" = "{path}"\n' for name, path in self.repositories.items())
        agents = ", ".join(f'"{name}"' for name in self.agents)
        (where / "config.toml").write_text(
            f"{self.settings}\n[worker]\nagents = [{agents}]\nfree_space = 1\n[worker.repositories]\n{known}"
        )
        argv = (sys.executable, "-c", "from aotloop.cli.main import main; main()", "worker")
        options = ("--home", str(self.folder / "home"), "--queue", self.queue, "--slots", str(self.slots))
        environ = {
            **os.environ,
            "XDG_CONFIG_HOME": str(self.folder / "settings"),
            "AOT_CONFINE": "auto" if self.is_confined else "off",
            **({} if self.has_profile else {"TEMPORAL_ADDRESS": self.address or self.server.address}),
            **self.environ,
        }
        with (self.folder / "log").open("ab") as log:
            before = log.tell()
            self.process = subprocess.Popen(
                (*self.inside, *argv, *options, *words), env=environ, stdout=log, stderr=log
            )
        process = self.process
        until(lambda: "ready:" in self.log[before:] or process.poll() is not None, lambda: self.log)
        assert process.poll() is None, self.log

    @property
    def mark(self) -> str:
        """In the environment of all its agents."""
        return f"AOT_RUN_ID=worker-{sha256(os.fsencode((self.folder / 'home').resolve())).hexdigest()[:12]}\0"

    def end(self, *, at_once: bool = False) -> int:
        """Its exit code."""
        if self.process is None:
            return 0
        if at_once:
            self.process.kill()
        else:
            self.process.terminate()
        code = self.process.wait()
        self.process = None
        return code
