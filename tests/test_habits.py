"""What contributors and their tools expect is there: CI and the commit hooks run what `make check` runs."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def test_no_error_is_raised_inside_of_except_star() -> None:
    """Seen: Python 3.11.2 makes a group of it, so that a full disk in mid-run was reported as a bug."""
    sources = (ROOT / "src").rglob("*.py")
    assert [str(one) for one in sources if re.search(r"^\s*except\s*\*", one.read_text(), re.MULTILINE)] == []


def test_ci_runs_make_check() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "check.yml").read_text())
    commands = [step.get("run") for job in workflow["jobs"].values() for step in job["steps"]]
    assert "make check" in commands


def test_each_commit_hook_is_a_part_of_make_check_and_needs_no_network() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("\ncheck:")[2].partition("\n\n")[0]
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert [one["repo"] for one in config["repos"]] == ["local"]
    entries = [hook["entry"].split() for one in config["repos"] for hook in one["hooks"]]
    assert entries
    for program, *words in entries:
        name = Path(program).name
        assert f"$(BIN)/{name}" in recipe
        assert program == f".venv/bin/{name}"
        assert [one for one in words if not one.startswith("-") and f"$(BIN)/{name} {one}" not in recipe] == []


def test_a_vulnerability_is_reported_in_private() -> None:
    policy = (ROOT / "SECURITY.md").read_text()
    assert "Report a vulnerability" in policy
    assert "(docs/security.md)" in policy
