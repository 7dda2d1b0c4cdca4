"""Calls every command and script in this process on a given state file, and examines the output.

A command or script that is added later is called, too: without arguments, unless the tables below list them.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from aotloop.cli import main as cli
from aotloop.cli.error_handler import guarded
from aotloop.hooks.entry import HOOKS
from aotloop.scripts import run as scripts
from faults.fuzzing.calling import asked

NOT_CALLED = {
    "demo": "it works in a folder of its own",
    "watch": "it waits for a run",
    "serve": "it waits for browsers; what its page shows is tried in tests/web",
    "worker": "it waits for orders of other machines",
    "dev-cluster": "it waits until it is interrupted; it looks at no loop",
    "plugin": "it is about clients, not about loops",
    "completion": "it is about shells",
    "doctor": "it looks at the whole machine; called once for each aot.toml",
}

_CLI: dict[str, list[list[str]]] = {
    "run": [["--dry-run"], ["--json"]],
    "graph": [[], ["--json"]],
    "atom": [["list"], ["show", "{atom}"], ["start", "{atom}"], ["fail", "{atom}", "--reason", "{text}"],
             ["resolve", "{atom}", "--summary", "{text}"], ["add", "{text}", "--id", "{text}"],
             ["decompose", "{atom}", "--child", "{text}", "--reason", "{text}"]],
    "or": [["select", "way", "{text}", "--reason", "{text}"]],
    "prompt": [["{atom}"]],
    "log": [[], ["{atom}"]],
    "gate": [["--no-run"], []],
    "redirect": [["--goal", "{text}"], ["--add", "{text}", "--id", "{text}"], ["--protect", "{text}"]],
    "confirm": [["{text}"]],
    "init": [["--goal", "{text}"]],
    "align": [["--yes", "-f", "{text}"]],
    "stop": [[]],
}  # fmt: skip
_SCRIPTS: dict[str, list[str]] = {
    "update_atom": ["{atom}", "resolved"],
    "add_binding": ["{atom}", "--summary", "{text}", "--artifacts", "{text}"],
    "set_status": ["stopped", "--reason", "{text}"],
    "verify_command": ["true"],  # its argument is a command, and the caller wants it to run
    "verify_file": ["{text}"],
    "align_goal": ["{text}", "--agreed"],
    "add_atom": ["{text}", "--description", "{text}", "--depends-on", "{text}"],
    "decompose_atom": ["{atom}", "--children", "{text}", "--descriptions", "{text}", "--reason", "{text}"],
    "switch_or_branch": ["way", "{text}", "--reason", "{text}"],
    "fail_atom": ["{atom}", "--reason", "{text}", "--because-of", "{text}"],
    "record_probe": ["{atom}", "--feasible", "false", "--findings", "{text}"],
    "request_stop": ["--reason", "{text}"],
    "apply_correction": ["alignment", "--description", "{text}", "--goal", "{text}"],
    "enter_loop": ["--session", "{text}"],
    "integrate": ["{atom}", "--worktree", "{text}", "--summary", "{text}"],
    "take_back": ["{atom}", "--reason", "{text}"],
    "record_judgement": ["--item", "{text}", "--passed", "true", "--evidence", "{text}"],
}


def all_calls(atom: str, text: str) -> Iterator[tuple[str, Callable[[], int]]]:
    """By name. Those that only look come first: the others change the file."""
    for name in cli.COMMANDS:
        for words in [] if name in NOT_CALLED else _CLI.get(name, [[]]):
            filled = [one.format(atom=atom, text=text) if "{" in one else one for one in words]
            yield " ".join(("aot", name, *words)), _command([name, *filled])
    for name in scripts.MODULES:
        filled = [one.format(atom=atom, text=text) if "{" in one else one for one in _SCRIPTS.get(name, [])]
        yield name, _script(name, filled)


def _command(words: list[str]) -> Callable[[], int]:
    return lambda: guarded(cli.run, words)


def _script(name: str, words: list[str]) -> Callable[[], int]:
    return lambda: scripts.run(name, words)


@contextmanager
def silenced() -> Iterator[io.BytesIO]:
    """The output is kept, and there is no person to ask."""
    before = sys.stdin, sys.stdout, sys.stderr
    said = io.BytesIO()
    stream = io.TextIOWrapper(said, encoding="utf-8", errors="backslashreplace", write_through=True)
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), stream, stream
    try:
        yield said
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        stream.detach()


def complaints(state_file: Path, data: bytes, atom: str, text: str) -> list[str]:
    """What did not end as it should have, of everything that can be called with this state file."""
    found: list[str] = []
    for name, call in all_calls(atom, text):
        state_file.write_bytes(data)
        found += _complaints(name, call)
    state_file.write_bytes(data)
    return found


def _complaints(name: str, call: Callable[[], int]) -> Iterator[str]:
    with silenced() as said:
        try:
            call()
        except SystemExit:
            pass
        except Exception as error:  # noqa: BLE001 - every exception that escapes is a finding
            yield f"{name}: {error!r}"
    told = said.getvalue()
    if b"this is a bug" in told or b"bug in aotloop" in told or b"Traceback" in told:
        yield f"{name}: {told[-600:].decode(errors='replace')}"
    steering = (b"\x1b]0;", b"\x1b[2J", *(("\u202e".encode(),) if name.startswith("aot") else ()))
    if any(one in told for one in steering):
        yield f"{name}: it lets foreign text control the terminal"


def config_complaints(state_file: Path) -> list[str]:
    """No command has been accepted."""
    data = state_file.read_bytes()
    found: list[str] = []
    for words in (["run"], ["run", "--dry-run"], ["prompt", "A2"], ["status"], ["gate"], ["redirect", "--goal", "x"]):
        found += _complaints(" ".join(("aot", *words)), _command(words))
        state_file.write_bytes(data)
    return found


def hook_complaints(payload: dict[str, Any], state_file: Path) -> list[str]:
    found = []
    for event in HOOKS:
        try:
            asked(event, payload, state_file)
        except (msgspec.ValidationError, ValueError):
            continue  # the shim answers nothing
        except Exception as error:  # noqa: BLE001
            found.append(f"{event}: {error!r} on {json.dumps(payload)[:200]}")
    return found
