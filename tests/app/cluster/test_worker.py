"""`aot worker` says before it starts what would keep it from working."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.loops import atom
from tests.runner.projects import a_project


def own(text: str) -> None:
    folder = Path(os.environ["HOME"], ".config", "aotloop")
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


def test_a_worker_that_would_accept_nothing_does_not_start(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"))
    refused = project.aot("worker")
    assert (refused.code, "names no repository or no agent" in refused.err) == (1, True)


@pytest.mark.parametrize("drain", ["soon", "-1s"])
def test_a_drain_that_is_no_time_is_refused(tmp_path: Path, drain: str) -> None:
    refused = a_project(tmp_path, atom("A1", run="true")).aot("worker", "--drain", drain)
    assert (refused.code, "--drain" in refused.err) == (2, True)


def test_the_doctor_names_every_problem(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"), environ={"TEMPORAL_ADDRESS": "127.0.0.1:9"})
    own(
        '[worker]\nagents = ["shell", "nobody-knows"]\nfree_space = 1\n'
        f'[worker.repositories]\nhere = "{project.root}"\ngone = "{tmp_path}/gone"\n'
    )
    ran = project.aot("worker", "--doctor", "--json", "--home", str(tmp_path / "home"))
    findings = json.loads(ran.out)["findings"]
    assert "127.0.0.1:9 cannot be reached: Connection refused. Start it" in findings[0]["said"]
    found = {one["what"]: one["ok"] for one in findings}
    assert (ran.code, found.pop(f"disk of {tmp_path}/home")) == (1, True)
    assert found == {
        "Temporal server": False,
        "repository here": True,
        "repository gone": False,
        "agent shell": True,
        "agent nobody-knows": False,
    }
