"""A planner is asked in the person's own checkout, and whatever it tries to change there is prevented or seen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.command_backend import Command
from aotloop.agents.prompts.planner_prompt import Talk
from aotloop.app.align.planner import Planner
from aotloop.errors import AotError
from aotloop.process.sandbox import is_possible
from aotloop.process.spec import Limits

COMMIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qam", "x", "--allow-empty"]
ASKS = {"questions": [{"question": "Which?", "choices": ["a", "b"]}], "plan": None}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    for words in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x", "--allow-empty"],
    ):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    return root


def planner(root: Path, program: str, **more: Any) -> Planner:
    answer = json.dumps(ASKS)
    code = f"import os, pathlib, subprocess, sys, time\nanswer = {answer!r}\n{program}"
    backend = Command(argv=(sys.executable, "-I", "-S", "-c", code))
    limits = more.pop("limits", Limits(total=30))
    return Planner(name="tester", backend=backend, limits=limits, root=root, state_file=root / "state.md", **more)


def test_it_is_told_on_standard_input_and_its_answer_is_taken(root: Path) -> None:
    lines: list[str] = []
    program = "print('saw', 'Log in' in sys.stdin.read(), os.environ['AOT_ROLE'], os.getcwd())\nprint(answer)"
    said = planner(root, program).ask(Talk(request="Log in"), lines.append)
    assert said.result.questions[0].choices == ("a", "b")
    assert said.changed == ()
    assert lines[0] == f"saw True planner {root}"


def test_what_it_changes_is_seen(root: Path) -> None:
    (root / "dirty").write_text("before")
    write = "pathlib.Path('dirty').write_text('after'); pathlib.Path('new').touch(); print(answer)"
    said = planner(root, write, confines=False).ask(Talk(), lambda _: None)
    assert said.changed == ("dirty", "new")
    commit = (
        "subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qam', 'x', '--allow-empty'])"
    )
    said = planner(root, f"{commit}; print(answer)", confines=False).ask(Talk(), lambda _: None)
    assert "HEAD" in said.changed


@pytest.mark.skipif(not is_possible(), reason="this kernel cannot")
def test_where_the_kernel_can_it_changes_nothing_at_all(root: Path) -> None:
    (root / "dirty").write_text("before")
    tries = (
        "for try_it in (lambda: pathlib.Path('dirty').write_text('x'), lambda: pathlib.Path('new').touch(),"
        " lambda: pathlib.Path('dirty').unlink()):\n"
        "    try:\n        try_it()\n    except OSError as error:\n        print('refused', error.errno)\n"
        "print(answer)"
    )
    lines: list[str] = []
    said = planner(root, tries).ask(Talk(), lines.append)
    assert said.changed == ()
    assert [line.split()[0] for line in lines[:3]] == ["refused"] * 3
    assert sorted(path.name for path in root.iterdir()) == [".git", "dirty"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("print('no idea')", 'there is no JSON object with "questions"'),
        ('print(\'{"questions": [], "plan": null}\')', "it neither asks nor proposes anything"),
        ("sys.exit(3)", "tester: exit 3 without an answer"),
        ("sys.exit(75)", "tester: the agent asks to be tried later"),
    ],
)
def test_what_is_no_answer_is_told_with_its_reason(root: Path, program: str, told: str) -> None:
    with pytest.raises(AotError) as caught:
        planner(root, program).ask(Talk(), lambda _: None)
    assert told in caught.value.message


def test_one_that_hangs_is_ended(root: Path) -> None:
    with pytest.raises(AotError, match="tester: the agent"):
        planner(root, "time.sleep(3600)", limits=Limits(total=0.3)).ask(Talk(), lambda _: None)


def test_outside_of_a_repository_it_is_asked_all_the_same(tmp_path: Path) -> None:
    said = planner(tmp_path, "print(answer)").ask(Talk(), lambda _: None)
    assert said.changed == ()
