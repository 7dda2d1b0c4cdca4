"""Agents that do what they are told: orders are written down for each atom, one for each attempt on it.

config = scripted(tmp_path, {"A1": [fails("no idea"), done({"a.txt": "a"})], "A2": [done(after="A1")]})
project = a_project(tmp_path, atom("A1"), atom("A2"), config=config, …)

The last order of an atom holds for all attempts after it; `ANYBODY` is asked for atoms that have none. Orders of probes
stand under the id of the atom and `?`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from aotloop.agents.roles import ROLES

Order = dict[str, Any]

ANYBODY = "*"


def scripted(folder: Path, orders: dict[str, list[Order]], more: str = "", agent: str = "scripted") -> str:
    """The text of an aot.toml in which everything is done by these orders; `more` comes before the tables of agents."""
    program = folder / f"{agent}.py"
    program.write_text(_PROGRAM)
    book = folder / f"{agent}.json"
    book.write_text(json.dumps({key: [_printable(order) for order in told] for key, told in orders.items()}))
    argv = json.dumps([sys.executable, "-I", "-S", str(program), str(book)])
    roles = json.dumps(ROLES)
    return f'agent = "{agent}"\n{more}\n[agents.{agent}]\nargv = {argv}\nroles = {roles}\n'


def _printable(order: Order) -> Order:
    return {**order, "answer": json.dumps(order["answer"])} if "answer" in order else order


def done(files: dict[str, str] | None = None, summary: str = "it is done", **more: Any) -> Order:
    """`files` are written; `more`: see `_PROGRAM`."""
    return {"write": files or {}, "answer": _worker(success=True, summary=summary), **more}


def fails(reason: str, **more: Any) -> Order:
    return {"answer": _worker(success=False, reason=reason), **more}


def proposes(*parts: str | dict[str, Any], reason: str = "too big", **more: Any) -> Order:
    children = [{"description": part} if isinstance(part, str) else part for part in parts]
    answer = {**_worker(success=False, reason=reason), "proposal": {"reason": reason, "children": children}}
    return {"answer": answer, **more}


def finds(findings: str, *, feasible: bool = True, cost: float | None = None, **more: Any) -> Order:
    """Of a probe."""
    return {"answer": {"feasible": feasible, "findings": findings, "cost_estimate": cost}, **more}


def _worker(*, success: bool, summary: str = "", reason: str = "") -> dict[str, Any]:
    delta = {"summary": summary, "artifacts": []}
    return {"success": success, "bindings_delta": delta, "artifacts": [], "reason": reason}


def times_asked(folder: Path, key: str, agent: str = "scripted") -> int:
    """How often an agent was asked for what stands under this key."""
    path = folder / f"{agent}.json.asked"
    return path.read_text().splitlines().count(key) if path.exists() else 0


_PROGRAM = """
import os, sys  # and no more: other modules would take twice as long as all the rest

def until_there(path):
    import time
    for _ in range(15_000):
        if os.path.exists(path):
            return
        time.sleep(0.02)
    sys.exit("nobody made " + path)

book, atom = sys.argv[1], os.environ["AOT_ATOM_ID"]
key = atom + "?" if os.environ["AOT_ROLE"] == "probe" else atom
with open(book + ".asked", "a+") as asked:
    asked.seek(0)
    before = asked.read().splitlines().count(key)
    asked.write(key + "\\n")
with open(book) as file:
    orders = eval(file.read(), {"true": True, "false": False, "null": None})
orders = orders.get(key) or orders["*"]
order = orders[min(before, len(orders) - 1)]

if "touch" in order:                                    # tell others that it has begun
    open(order["touch"], "a").close()
if "after" in order:                                    # wait until this file is there
    until_there(order["after"])
for name, text in order.get("write", {}).items():
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w") as file:
        file.write(text)
for name, text in order.get("append", {}).items():
    with open(name, "a") as file:
        file.write(text)
if "run" in order:                                      # whatever else it does, as a command
    import subprocess
    subprocess.run(["/bin/sh", "-c", order["run"]])
if "say" in order:
    print(order["say"], flush=True)
if "answer" in order:
    print(order["answer"], flush=True)
if order.get("hang"):
    import time
    time.sleep(3600)
if "signal" in order:
    os.kill(os.getpid(), order["signal"])
sys.exit(order.get("exit", 0))
"""
