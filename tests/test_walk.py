"""The walk in docs/architecture.md: from `aot run` to one merged atom, module by module, and not too long."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

from aotloop.core.model import AtomCheck
from tests.loops import atom
from tests.runner.projects import a_project

ROOT = Path(__file__).parents[1]
LONGEST = 45
BY_NAME = {"agents.command_backend": "agents.registry"}
"""Loaded by the name of its kind, which only the registry knows."""

TRACED = """
import sys, threading
from aotloop.cli.main import aot

called = set()

def note(frame, event, _):
    if event == "call" and frame.f_code.co_flags & 1:  # of a function, not of a class or a module
        called.add(frame.f_globals.get("__name__", ""))

threading.setprofile(note)
sys.setprofile(note)
try:
    aot(["run", "--yes"])
finally:
    print(*called, file=sys.stderr)
"""


def walk() -> list[str]:
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.partition("### The walk\n")[2].partition("\n## ")[0]
    steps = section[section.index("1. ") :]
    return re.findall(r"`([a-z_.]+)`", steps)


def imported_by(module: str) -> set[str]:
    path = ROOT / "src" / "aotloop" / Path(*module.split(".")).with_suffix(".py")
    froms = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    bases = [(node, (node.module or "").removeprefix("aotloop").removeprefix(".")) for node in froms]
    named = {f"{base}.{alias.name}" for node, base in bases for alias in node.names}
    return {base for _, base in bases} | named


def test_the_walk_is_short_and_visits_no_module_twice() -> None:
    modules = walk()
    assert 30 < len(modules) <= LONGEST
    assert len(set(modules)) == len(modules)


def test_each_module_of_the_walk_is_imported_by_one_before_it() -> None:
    modules = walk()
    known = imported_by(modules[0])
    for module in modules[1:]:
        assert module in known or BY_NAME.get(module) in modules, module
        known |= imported_by(module)


def test_a_run_of_one_atom_calls_each_module_of_the_walk(tmp_path: Path) -> None:
    answer = json.dumps({"success": True, "bindings_delta": {"summary": "done"}, "artifacts": ["a.txt"]})
    agent = json.dumps(["sh", "-c", f"echo a > a.txt; echo '{answer}'"])
    settings = f'agent = "writer"\n[agents.writer]\nkind = "command"\nargv = {agent}\n'
    work = atom("A1", check=AtomCheck(type="file", value="a.txt"))
    project = a_project(tmp_path, work, base_case="test -f a.txt", config=settings)
    argv = [sys.executable, "-c", TRACED]
    ran = subprocess.run(argv, cwd=project.root, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    called = {name.removeprefix("aotloop.") for name in ran.stderr.splitlines()[-1].split()}
    assert [module for module in walk() if module not in called] == []
