"""CI runs a few failed tests again, alone. What fails again still fails, and what passes is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

FIRST = """
import os, pathlib, pytest

def is_first(name):
    tried = pathlib.Path(__file__).with_name(name)
    was_tried = tried.exists()
    tried.touch()
    return not was_tried
"""
ONCE = f"""{FIRST}
def test_that_fails_once():
    assert not is_first("failed")

@pytest.fixture
def world():
    assert not is_first("set up")

def test_whose_set_up_fails_once(world):
    pass
"""
WORKER = f"""{FIRST}
def test_whose_worker_dies_once():
    if is_first("died"):
        os._exit(3)
"""
ALWAYS = "def test_that_always_fails():\n    assert False\n"
SKIPPED = f"""{FIRST}
def test_that_is_skipped_then():
    assert not is_first("skipped")
    pytest.skip("nothing is shown")
"""


def run(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.second_try", *options, f"--rootdir={folder}"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, check=False, cwd=folder, env=env, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_what_passes_alone_is_named_and_its_failure_is_shown(tmp_path: Path) -> None:
    code, said = run(tmp_path, "-p", "xdist", "-n", "1", test_once=ONCE, test_worker=WORKER)

    assert code == 0, said
    for test in ("once.py::test_that_fails_once", "once.py::test_whose_set_up_fails_once"):
        assert f"UNSTABLE test_{test}\n" in said
    assert "UNSTABLE test_worker.py::test_whose_worker_dies_once\n" in said
    assert 'assert not is_first("failed")' in said, "the first failure is printed"


def test_what_fails_again_fails(tmp_path: Path) -> None:
    code, said = run(tmp_path, test_once=ONCE, test_always=ALWAYS)

    assert code == 1
    assert "Running again, alone: test_always.py::test_that_always_fails, test_once.py" in said
    assert "UNSTABLE" not in said


def test_a_skip_is_no_pass(tmp_path: Path) -> None:
    code, said = run(tmp_path, test_skipped=SKIPPED)

    assert code == 1
    assert "Running again" in said
    assert "UNSTABLE" not in said


def test_many_failures_are_no_accident(tmp_path: Path) -> None:
    code, said = run(tmp_path, test_four="".join(ALWAYS.replace("always", f"{n}") for n in range(4)))

    assert code == 1
    assert "Running again" not in said


def test_where_all_pass_nothing_is_said(tmp_path: Path) -> None:
    code, said = run(tmp_path, test_good="def test_good():\n    pass\n")

    assert code == 0
    assert "UNSTABLE" not in said
    assert "Running again" not in said
