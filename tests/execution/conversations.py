"""A stand-in for Claude Code that remembers: it goes on in a conversation as the client does, and does what it is told.

config = remembering(tmp_path, {"A2": [{"fail": "no idea"}, {}]})
project = a_project(tmp_path, atom("A1"), atom("A2"), config=config, …)
told(tmp_path)  # who was asked, in which conversation

Without an order an atom is done: a file of its name is written. The last order holds for all attempts after it.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import msgspec

_COST = 0.25
"""USD of each attempt; the client tells the sum of a conversation."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    atom: str
    session: str | None
    """None: nothing of it is kept."""
    goes_on: bool
    cwd: str
    remembers: tuple[str, ...]
    """Atoms of this conversation that came before."""


def remembering(folder: Path, orders: dict[str, list[dict[str, Any]]] | None = None, more: str = "") -> str:
    """The text of an aot.toml; `more` comes before the tables of agents."""
    program, book = folder / "remembering.py", folder / "orders.json"
    program.write_text(_PROGRAM)
    book.write_text(json.dumps(orders or {}))
    client = folder / "claude"
    words = shlex.join([sys.executable, "-I", "-S", str(program), str(folder)])
    client.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    client.chmod(0o755)
    return f'agent = "claude"\n{more}\n[agents.claude]\nprogram = "{client}"\n'


def told(folder: Path) -> list[Told]:
    log = folder / "told.jsonl"
    lines = log.read_bytes().splitlines() if log.exists() else []
    return [msgspec.json.decode(line, type=Told) for line in lines]


def sessions(folder: Path) -> list[list[str]]:
    """The atoms of each conversation, in order."""
    found: dict[str, list[str]] = {}
    for number, one in enumerate(told(folder)):
        found.setdefault(one.session or str(number), []).append(one.atom)
    return list(found.values())


def left_by_conversations(root: Path) -> list[Path]:
    """With the operator, or in the project's journals."""
    home = Path(os.environ["HOME"], ".claude")
    return [*home.glob("projects/*"), *root.glob(".aot/sittings")]


_PROGRAM = """
import json, os, pathlib, sys, time

folder, options = pathlib.Path(sys.argv[1]), sys.argv[2:]
atom, prompt = os.environ["AOT_ATOM_ID"], sys.stdin.read()

def option(name):
    return options[options.index(name) + 1] if name in options else None

with open(folder / "asked", "a+") as asked:
    asked.seek(0)
    before = asked.read().splitlines().count(atom)
    asked.write(atom + "\\n")
orders = json.loads((folder / "orders.json").read_text()).get(atom) or [{}]
order = orders[min(before, len(orders) - 1)]
going_on, name = option("--resume"), option("--resume") or option("--session-id")
slug = os.getcwd().replace("/", "-")
home = pathlib.Path(os.environ["HOME"], ".claude/projects", slug)
file = home / f"{name}.jsonl"

def tell(**event):
    print(json.dumps(event), flush=True)

if going_on and (not file.exists() or order.get("forgets")):
    tell(type="result", subtype="error_during_execution", is_error=True, total_cost_usd=0, modelUsage={},
         errors=[f"No conversation found with session ID: {name}"])
    with open(folder / "unknown", "a") as unknown:
        unknown.write(atom + "\\n")
    sys.exit(1)
remembers = [json.loads(line)["atom"] for line in file.read_text().splitlines()] if going_on else []
if name is not None:
    home.mkdir(parents=True, exist_ok=True)
    with open(file, "a") as conversation:
        conversation.write(json.dumps({"atom": atom}) + "\\n")
with open(folder / "told.jsonl", "a") as log:
    log.write(json.dumps({"atom": atom, "session": name, "goes_on": bool(going_on), "cwd": os.getcwd(),
                          "remembers": remembers}) + "\\n")
if not going_on:
    time.sleep(0.2)  # what a client's start takes: a conversation that goes on saves it
tell(type="system", subtype="init", session_id=name or "none", claude_code_version="2.1.0", model="stand-in")
for path, text in order.get("write", {f"{atom}.txt": atom}).items():
    pathlib.Path(path).write_text(text)
if "says_no_edit" not in order:
    tell(type="assistant", message={"content": [{"type": "tool_use", "name": "Write", "input": {}}]})
if order.get("hang"):
    time.sleep(3600)
while "after" in order and not os.path.exists(order["after"]):
    time.sleep(0.02)
success = "fail" not in order
answer = {"success": success, "bindings_delta": {"summary": "did it", "artifacts": []}, "artifacts": [],
          "reason": order.get("fail", "")}
attempts = len(remembers) + 1
used = {"stand-in": {"inputTokens": 100 * attempts, "outputTokens": 10 * attempts}}
tell(type="result", subtype="success", is_error=False, structured_output=answer, num_turns=1,
     total_cost_usd=COST * attempts, modelUsage=used)
""".replace("COST", str(_COST))
