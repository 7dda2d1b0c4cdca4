r"""Judges that say what they are told, in projects whose base case has to be judged.

config = scripted(tmp_path, {"A1": [done({"a.txt": "a\n"})], "It reads well": [scores(clarity=4)]})
project = a_project(tmp_path, atom("A1"), base_case=judged(quality("It reads well", clarity=1)), config=config)
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from aotloop.core.model import BaseCase, Check, ChecklistItem, Criterion
from tests.runner.agents import Order
from tests.runner.projects import Project

PLACE = "README.md:1"
"""Which is there in every project."""


def scores(place: str = PLACE, **given: float) -> Order:
    return {"answer": {"scores": [score(name, value, place) for name, value in given.items()]}}


def score(criterion: str, value: float, place: str = PLACE) -> dict[str, Any]:
    return {"criterion": criterion, "score": value, "evidence": f'{place} "a project": as it is'}


def finds_so(evidence: str = "I read README.md") -> Order:
    return {"answer": {"passed": True, "evidence": evidence, "failures": []}}


def finds_not_so(*failures: str) -> Order:
    return {"answer": {"passed": False, "evidence": "looked", "failures": list(failures)}}


def quality(item: str, *, threshold: float = 3.0, scope: str | None = None, **weights: float) -> ChecklistItem:
    rubric = tuple(Criterion(criterion=name, weight=weight) for name, weight in weights.items())
    return ChecklistItem(item=item, check=Check(type="quality", rubric=rubric, pass_threshold=threshold, scope=scope))


def assertion(item: str, value: str = "it is so") -> ChecklistItem:
    return ChecklistItem(item=item, check=Check(type="assertion", value=value))


def command(item: str, value: str) -> ChecklistItem:
    return ChecklistItem(item=item, check=Check(type="command", value=value))


def judged(*items: ChecklistItem) -> BaseCase:
    return BaseCase(checklist=items)


def warnings(project: Project) -> list[str]:
    return [one["text"] for one in project.news() if one["kind"] == "warning"]


def remembered() -> list[dict[str, Any]]:
    """What is kept for this user."""
    folder = Path(os.environ["HOME"], ".local", "share", "aotloop", "judged")
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


_VOTER = """
import json, os, sys
answers = json.loads(sys.argv[1])
print(json.dumps(answers[int(os.environ["AOT_ATTEMPT"]) - 1]))
"""


def voters(folder: Path, *orders: Order) -> str:
    """For an aot.toml: a judge for each of these orders, who are asked at the same time."""
    program = folder / "voter.py"
    program.write_text(_VOTER)
    answers = json.dumps([order["answer"] for order in orders])
    argv = json.dumps([sys.executable, "-I", "-S", str(program), answers])
    return f'[roles.judge]\nagent = "voter"\nvotes = {len(orders)}\n[agents.voter]\nargv = {argv}\n'
