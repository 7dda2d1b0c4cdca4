"""Measures what an atom costs a client, with a scripted model: requests, their size, answers refused for their form.

`python -m bench.requests` needs the clients that `make test-clients` installs. An atom here is one command and one
answer, so two requests are the least.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.loops import atom
from tests.modelserver import Answer, ModelServer, Script
from tests.modelserver.clients import CLIENTS
from tests.modelserver.operators import config_of, environ_of, shell
from tests.runner.projects import a_project

ATOMS = 4
LEAST = 2
BYTES_OF_A_TOKEN = 4
"""A rule of thumb: the scripted model counts no tokens."""


def answered(name: str) -> Answer:
    delta: dict[str, Any] = {"summary": f"did {name}", "artifacts": []}
    fields = {"success": True, "bindings_delta": delta, "artifacts": [], "reason": ""}
    return Answer(fields | {"because_of": [], "wants_probe": False, "proposal": None})


def measured(client: str, folder: Path) -> str:
    names = [f"A{number}" for number in range(1, ATOMS + 1)]
    scripts = [
        Script(f"its atom {name}.", [shell(client, f"echo x > {name}.txt"), answered(name)], plays=1) for name in names
    ]
    with ModelServer(scripts) as server:
        environ = environ_of(client, server)
        check = " && ".join(f"test -s {name}.txt" for name in names)
        project = a_project(folder, *map(atom, names), config=config_of(client), base_case=check, environ=environ)
        ran = project.run()
        asked = [record.exchange for record in server.played]
        ours = [one for one in asked if any(f"its atom {name}." in json.dumps(one.body) for name in names)]
        size = sum(len(json.dumps(one.body)) for one in ours)
        refused = sum(one["outcome"] == "garbage" for one in ran.kinds("attempt_ended"))
    per_atom = len(ours) / ATOMS
    tokens = size / ATOMS / BYTES_OF_A_TOKEN
    state = "completed" if ran.code == 0 else f"exit {ran.code}"
    return f"| {client} | {per_atom:g} | {per_atom - LEAST:g} | {tokens:,.0f} | {refused} | {state} |"


def main() -> None:
    print("| client | requests per atom | beyond the least | tokens sent per atom, about | refused for form | end |")
    print("| --- | ---: | ---: | ---: | ---: | --- |")
    for client in (name for name, program in CLIENTS.items() if program is not None):
        with tempfile.TemporaryDirectory() as folder:
            print(measured(client, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
