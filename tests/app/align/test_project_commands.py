from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.app.align.project_commands import LARGEST, MOST, project_commands


@pytest.mark.parametrize(
    ("name", "text", "commands"),
    [
        ("Makefile", "all: x\ntest: all\n\ttrue\ncheck: test\n", ["make test", "make check"]),
        ("Makefile", "test := 3\nlatest: x\n", []),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", ["python -m pytest -q"]),
        ("pyproject.toml", "[tool.ruff]\n", []),
        ("pyproject.toml", "[[[", []),
        ("package.json", '{"scripts": {"test": "jest"}}', ["npm test"]),
        ("package.json", '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}', []),
        ("package.json", '{"scripts": ["test"]}', []),
        ("package.json", "[" * 100_000, []),
        ("go.mod", "module x\n", ["go test ./..."]),
        (
            ".github/workflows/ci.yml",
            "jobs: {a: {steps: [{run: npm run test:unit}, {run: ls}]}}",
            ["npm run test:unit"],
        ),
        (".github/workflows/ci.yml", "jobs: {a: {steps: [{run: 'pytest ${{ x }}'}]}}", []),
        (
            ".github/workflows/ci.yml",
            'jobs: {a: {steps: [{run: "make test\\nmake lint"}]}}',
            ["make test", "make lint"],
        ),
        (".gitlab-ci.yml", "unit: {script: [cargo test --all]}", ["cargo test --all"]),
        (".gitlab-ci.yml", "a: &a [*a]", []),
    ],
)
def test_commands_that_files_of_a_project_name(tmp_path: Path, name: str, text: str, commands: list[str]) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert [(one.command, one.source) for one in project_commands(tmp_path)] == [(one, name) for one in commands]


def test_no_command_is_proposed_twice_and_there_are_few(tmp_path: Path) -> None:
    (tmp_path / ".gitlab-ci.yml").write_text(
        "a: {script: [make test, " + ", ".join(f"test {n}" for n in range(20)) + "]}"
    )
    (tmp_path / "Makefile").write_text("test:\n")
    found = project_commands(tmp_path)
    assert len(found) == MOST
    assert [one.source for one in found if one.command == "make test"] == ["Makefile"]


def test_links_pipes_huge_files_and_other_encodings_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("test:\n")
    (tmp_path / "Makefile").symlink_to("other")
    os.mkfifo(tmp_path / "package.json")
    (tmp_path / "pyproject.toml").write_text("# pytest\n" + "#" * LARGEST)
    (tmp_path / "go.mod").write_bytes(b"\xff\xfe")
    assert project_commands(tmp_path) == []
