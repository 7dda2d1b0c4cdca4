"""Serves a model file on loopback with llama.cpp: `python -m aotloop.cli.demo.model_server GGUF PORT`."""

from __future__ import annotations

import signal
import sys
from typing import Any

from aotloop.process.cancellation import sleep_until_interrupted

_SLOTS = 2
_CONTEXT = 2048


def main(model: str, port: str) -> None:
    import xllamacpp  # noqa: PLC0415 - of the extra `local-model`

    server: Any = xllamacpp.Server(_parameters(xllamacpp.CommonParams(), model, int(port)))
    print(f"listening at {server.listening_address}", flush=True)  # noqa: T201 - its parent waits for this line
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sleep_until_interrupted()


def _parameters(parameters: Any, model: str, port: int) -> Any:
    parameters.model.path = model
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = _SLOTS
    parameters.n_ctx = _CONTEXT * _SLOTS
    parameters.cache_ram_mib = 0
    parameters.n_threads_http = 2
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    return parameters


if __name__ == "__main__":
    main(*sys.argv[1:3])
