"""The examples are true: they validate without a warning, their links lead somewhere, and they show what they say; and
what the pages show of a shell is what a shell shows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.cli.commands.setup import worker
from aotloop.config.sources import load
from aotloop.core.checks.checklist import JUDGED, base_case_tree, leaves
from aotloop.core.limits import seconds
from aotloop.statefile.store import Store
from tests.documented import Step, differences, printed, steps_of

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
SESSIONS = ["README.md", "docs/tutorial.md", "docs/running.md", "docs/aligning.md"]
PROJECTS = [folder for folder in sorted(EXAMPLES.iterdir()) if (folder / ".claude").is_dir()]


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


@pytest.mark.parametrize("page", SESSIONS)
def test_a_session_on_a_page_goes_as_it_is_shown(page: str, tmp_path: Path) -> None:
    steps = steps_of((ROOT / page).read_text())
    assert steps
    came = printed(steps, tmp_path)
    assert len(came) == len(steps)
    for step, lines in zip(steps, came, strict=True):
        told = "\n".join(lines)
        assert differences(step, lines) == [], f"$ {step.command}\n{told}"


def test_a_difference_between_page_and_shell_is_noticed() -> None:
    shown = ["2026-11-16T00:15:07Z  A1: merged as 0123456789", "done after 0.3 s"]
    assert differences(Step("x", ["A1: merged as abcdef0", "done after …"]), shown) == []
    assert differences(Step("x", ["…", "done after 12 s"]), shown) == []
    assert differences(Step("x", []), shown) == []
    assert differences(Step("x", ["done after 1 s"]), shown) == ["~  A1: merged as ~"]
    assert differences(Step("x", ["…", "A2: merged as 0123456"]), shown) == ["A2: merged as 0123456"]


def test_the_unit_of_a_worker_is_one_that_systemd_reads() -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("not installed: systemd-analyze")
    unit = EXAMPLES / "worker" / "aot-worker.service"
    read = subprocess.run([program, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False)
    ours = [line for line in read.stderr.splitlines() if "aot-worker" in line]
    assert (read.returncode, ours) == (0, [])


@pytest.mark.parametrize("name", ["aot-worker.service", "Containerfile"])
def test_a_worker_takes_the_options_that_the_examples_give_it(name: str) -> None:
    """The stop of the service, or of the container, waits for longer than the worker."""
    text = (EXAMPLES / "worker" / name).read_text()
    words = re.findall(r"--(\w+)[\", ]+(\w+)", next(line for line in text.splitlines() if "--slots" in line))
    options = dict(words)
    assert options == {"slots": "8", "drain": "10m"}
    known = {option.name for option in worker.command.params}
    assert set(options) <= known
    waits = re.search(r"TimeoutStopSec=(\d+)min|--stop-timeout (\d+)", text)
    assert waits is not None
    assert int(waits[1] or 0) * 60 + int(waits[2] or 0) > seconds(options["drain"])


def test_the_container_of_a_worker_can_be_built_where_an_engine_is() -> None:
    engine = shutil.which("podman") or shutil.which("docker")
    if engine is None or subprocess.run([engine, "info"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no engine of containers runs here")
    if not os.environ.get("AOT_TEST_NETWORK"):
        pytest.skip("it needs the network: set AOT_TEST_NETWORK")
    words = [engine, "build", "-q", str(EXAMPLES / "worker")]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0
