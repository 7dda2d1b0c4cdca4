"""Loops whose base case waits for a person."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from aotloop.core.model import BaseCase, Check, ChecklistItem, CheckType, Loop
from aotloop.statefile.store import Store
from tests.loops import a_loop, atom

ASKED = "Is this true? [y/n, Enter: skip] "


def item(name: str, value: str = "it is so", kind: CheckType = "assertion") -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type=kind, value=value))


NICE = item("nice", "the page looks nice")
FAST = item("fast", "pages come up at once")
RUNS = item("runs", "test -f done.txt", "command")


def done_but_judged(*items: ChecklistItem, status: str = "stopped", **more: Any) -> Loop:
    return a_loop(atom("A1", status="resolved"), status=status, base_case=BaseCase(checklist=items), **more)


def loop_in(path: Path) -> Loop:
    return Store(str(path)).load()


def commit(project: Path, name: str) -> None:
    (project / name).touch()
    who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", project, "add", name], check=True)
    subprocess.run(["git", "-C", project, *who, "commit", "-qm", name], check=True)
