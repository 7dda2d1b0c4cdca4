"""The examples are true: they validate without a warning, their links lead somewhere, and they show what they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.config import load
from aotloop.core.checklist import JUDGED, base_case_tree, leaves
from aotloop.statefile.store import Store

EXAMPLES = Path(__file__).parents[1] / "examples"
PROJECTS = [folder for folder in sorted(EXAMPLES.iterdir()) if folder.is_dir()]


def store_of(project: Path) -> Store:
    return Store(str(project / ".claude" / "aot-loop-state.md"))


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_every_state_file_is_valid_and_waits_to_be_started(project: Path) -> None:
    examination = store_of(project).examine()
    assert list(examination.findings) == []
    assert examination.loop is not None
    assert examination.loop.control.status == "pending"


@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_every_configuration_can_be_read_and_names_an_agent(project: Path) -> None:
    assert load(project).agent is not None


def test_the_typical_project_has_what_its_readme_promises() -> None:
    loop = store_of(EXAMPLES / "webshop").load()
    objective = loop.objective
    kinds = {leaf.check.type for leaf in leaves(base_case_tree(objective.base_case))}
    assert kinds >= {"command", "file", *JUDGED}
    assert objective.protect
    assert loop.or_groups
    assert objective.constraints.max_cost_usd is not None
    assert objective.constraints.max_runtime is not None
    assert load(EXAMPLES / "webshop").agent == "claude"


def test_the_suite_of_the_small_project_fails_as_long_as_nobody_has_worked() -> None:
    suite = [sys.executable, "-B", "-m", "unittest", "-q"]
    ran = subprocess.run(suite, cwd=EXAMPLES / "pancakes", capture_output=True, check=False, text=True)
    assert ran.returncode == 1
    assert "FAILED (errors=5)" in ran.stderr


def test_every_link_leads_somewhere() -> None:
    page = EXAMPLES / "README.md"
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert links
    assert [link for link in links if not (EXAMPLES / link).exists()] == []
