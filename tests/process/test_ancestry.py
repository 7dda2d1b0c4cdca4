"""A process below a run is known, also if it has cleared its variables."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.process.ancestry import is_below_a_run

ASK = "from aotloop.process.ancestry import is_below_a_run; print(is_below_a_run({}))"


def asked_below(*wrapping: str, **variables: str) -> str:
    """The answer of a process without variables, below one that has them."""
    inner = f'exec env -i {" ".join(wrapping)} "{sys.executable}" -c "{ASK}" | cat; exit 0'
    env = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(["/bin/sh", "-c", f"( {inner} ); :"], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_person_is_below_nothing() -> None:
    assert not is_below_a_run({})
    assert asked_below() == "False"


@pytest.mark.parametrize("name", ["AOT_RUN_ID", "AOT_ATTEMPT_MARK", "AOT_CHECK_ID", "AOT_REAPER_OF"])
def test_cleared_variables_do_not_help(name: str) -> None:
    assert asked_below(**{name: "x"}) == "True"
    assert asked_below(f"PATH={os.environ['PATH']}", "setsid", "--wait", **{name: "x"}) == "True"


FORKS = """
import os, subprocess, sys
from aotloop.process.spawn import adopt_orphans
adopt_orphans()
reading, writing = os.pipe()
away = "import os\\nif os.fork(): os._exit(0)\\nos.setsid()\\nif os.fork(): os._exit(0)\\n"
ask = away + sys.argv[-1] if sys.argv[1] == "daemon" else sys.argv[-1]
subprocess.run([sys.executable, "-c", ask], env={}, stdout=writing)
os.close(writing)
print(open(reading).read().strip())
"""


@pytest.mark.parametrize(
    ("program", "word", "is_below"),
    [
        ("aot", "child", "True"),
        ("aot", "daemon", "True"),
        ("aot", "demo", "False"),
        ("aot", "dev-cluster", "False"),
        ("other", "child", "False"),
    ],
)
def test_what_aot_starts_is_below_a_run_also_as_a_daemon(
    tmp_path: Path, program: str, word: str, is_below: str
) -> None:
    (tmp_path / program).write_text(FORKS)
    words = [sys.executable, str(tmp_path / program), word, ASK]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == is_below


def test_its_own_variables_are_enough() -> None:
    assert is_below_a_run({"AOT_RUN_ID": "x"})
    assert not is_below_a_run({"AOT_RUN_ID": ""})
