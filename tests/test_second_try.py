"""CI runs a few failed tests again, alone. What fails again still fails, and what passes is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

ONCE = """
from pathlib import Path

def test_that_fails_once():
    tried = Path(__file__).with_name("tried")
    was_tried = tried.exists()
    tried.touch()
    assert was_tried
"""
ALWAYS = "def test_that_always_fails():\n    assert False\n"


def run(folder: Path, **files: str) -> tuple[int, str]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.second_try", "-n", "2", f"--rootdir={folder}"]
    done = subprocess.run(
        command, check=False, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_a_test_that_passes_alone_is_named_and_its_failure_is_shown(tmp_path: Path) -> None:
    code, said = run(tmp_path, test_once=ONCE)

    assert code == 0
    assert "UNSTABLE test_once.py::test_that_fails_once" in said
    assert "assert was_tried" in said, "the first failure is printed"


def test_a_test_that_fails_again_fails(tmp_path: Path) -> None:
    code, said = run(tmp_path, test_once=ONCE, test_always=ALWAYS)

    assert code == 1
    assert "UNSTABLE" not in said


def test_many_failures_are_no_accident(tmp_path: Path) -> None:
    tests = "\n".join(ONCE.replace("that_fails_once", f"{n}").replace('"tried"', f'"tried-{n}"') for n in range(4))

    code, said = run(tmp_path, test_four=tests)

    assert code == 1
    assert "Running again" not in said


def test_where_all_pass_nothing_is_said(tmp_path: Path) -> None:
    code, said = run(tmp_path, test_good="def test_good():\n    pass\n")

    assert code == 0
    assert "UNSTABLE" not in said
    assert "Running again" not in said
