"""How acceptance tests are run, and what it is worth."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.core.phases.model import ShipSettings
from aotloop.errors import AotError
from aotloop.phases.evidence.test_command import command_for, run_tests
from tests.patience import PATIENCE


def run(root: Path, name: str, content: str, settings: ShipSettings | None = None, timeout: float = 60) -> object:
    (root / name).write_text(content)
    return run_tests(root, command_for(root, name, settings or ShipSettings()), timeout=timeout).passed


@pytest.mark.parametrize(
    ("name", "content", "passed"),
    [
        ("a_test.sh", "exit 0\n", True),
        ("a_test.sh", "exit 1\n", False),
        ("a_test.sh", "exit 127\n", None),
        ("a_test.sh", "kill -9 $$\n", None),
        ("a_test.py", "def test_a(): assert 0\n", False),
        ("a_test.py", "def test_a(): pass\n", True),
        ("a_test.py", "import not_there\n", None),
        ("a_test.py", "x = 1\n", None),
        ("a_test.py", "import os\nos._exit(0)\n", None),
        ("a_test.py", "import os\ndef test_a(): os._exit(0)\ndef test_b(): assert 0\n", None),
        ("a_test.py", "import pytest\n@pytest.mark.skip\ndef test_a(): assert 0\n", None),
        ("a_test.py", "import pytest\n@pytest.mark.skip\ndef test_a(): assert 0\ndef test_b(): pass\n", True),
    ],
)
def test_they_pass_or_fail_or_prove_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, passed: bool | None
) -> None:
    _with_our_python(tmp_path, monkeypatch)
    assert run(tmp_path, name, content) is passed


@pytest.mark.parametrize(
    "others",
    [
        {"pytest.ini": "[pytest]\naddopts = --collect-only\n"},
        {
            "conftest.py": "import pytest\ndef pytest_collection_modifyitems(items):\n"
            "    for one in items: one.add_marker(pytest.mark.skip)\n"
        },
    ],
)
def test_that_nothing_was_run_is_not_that_it_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: dict[str, str]
) -> None:
    _with_our_python(tmp_path, monkeypatch)
    for name, content in others.items():
        (tmp_path / name).write_text(content)
    assert run(tmp_path, "a_test.py", "def test_a(): assert 0\n") is None


def test_without_pytest_unittest_runs_them(tmp_path: Path) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\ntouch "$0.ran"\nexec python3 "$@"\n')
    python.chmod(0o755)
    assert command_for(tmp_path, "a_test.py", ShipSettings()) == ".venv/bin/python -m unittest a_test.py"
    assert not (python.parent / "python.ran").exists(), "a program of the project's, which nobody has accepted yet"


def test_tests_that_unittest_does_not_find_prove_nothing(tmp_path: Path) -> None:
    (tmp_path / "a_test.py").write_text("def test_a(): assert 0\n")
    assert run_tests(tmp_path, "python3 -m unittest a_test.py", timeout=PATIENCE).passed is None


@pytest.mark.parametrize("ending", ["os._exit(0)", "pass"])
def test_unittest_has_to_tell_that_a_test_was_run(tmp_path: Path, ending: str) -> None:
    lines = ["import os, unittest", "class T(unittest.TestCase):", f"    def test_a(self): {ending}"]
    (tmp_path / "a_test.py").write_text("\n".join(lines) + "\n")
    passed = run_tests(tmp_path, "python3 -m unittest a_test.py", timeout=PATIENCE).passed
    assert passed is (True if ending == "pass" else None)


def test_tests_that_hang_prove_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "a_test.sh", "sleep 3600\n", timeout=0.3) is None


def test_the_persons_own_command(tmp_path: Path) -> None:
    settings = ShipSettings(test_command="grep -q hello")
    assert command_for(tmp_path, "spec/a.feature", settings) == "grep -q hello spec/a.feature"
    assert run(tmp_path, "a.feature", "hello\n", settings) is True


@pytest.mark.parametrize(
    "path",
    ["a b.py", "$(touch x).py", "a;b.py", "-rf.py", "../a.py", "a/../../b.py", "/a.py", "a\n.py", "a'.py", "ä.py", ""],
)
def test_a_path_with_anything_for_a_shell_in_it_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(AotError, match="cannot be the path"):
        command_for(tmp_path, path, ShipSettings())


def test_who_does_not_know_how_says_so(tmp_path: Path) -> None:
    with pytest.raises(AotError) as refused:
        command_for(tmp_path, "a.xyz", ShipSettings())
    assert "test_command" in str(refused.value.hint)


def _with_our_python(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which has pytest; the machine's own need not."""
    import sys  # noqa: PLC0415

    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "lib" / "python3" / "site-packages" / "pytest").mkdir(parents=True)
    (root / ".venv" / "lib" / "python3" / "site-packages" / "pytest" / "__init__.py").touch()
    (root / ".venv" / "bin" / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (root / ".venv" / "bin" / "python").chmod(0o755)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:cacheprovider")


def test_a_python_of_the_project_is_not_started_to_ask_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An activated environment is the first folder of PATH, and checks can write to it."""
    (tmp_path / ".git").mkdir()
    python = tmp_path / "env/bin/python3"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\ntouch {tmp_path}/trace\n")
    python.chmod(0o755)
    monkeypatch.setenv("PATH", f"{python.parent}:{os.environ['PATH']}")
    assert "unittest" in command_for(tmp_path, "a_test.py", ShipSettings())
    (tmp_path / "env/lib/python3/site-packages/pytest").mkdir(parents=True)
    (tmp_path / "env/lib/python3/site-packages/pytest/__init__.py").touch()
    assert "pytest" in command_for(tmp_path, "a_test.py", ShipSettings())
    assert not (tmp_path / "trace").exists()
