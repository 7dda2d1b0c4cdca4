"""The shims find the installation they belong to, whatever `python3` starts them, from wherever."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.loops import a_loop, atom, write_loop
from tests.scripts.calling import PLUGIN, SCRIPTS, call

BARE = os.path.realpath(sys.executable)
"""The interpreter behind the virtual environment: it has nothing of ours installed."""


def test_an_interpreter_without_our_packages_finds_the_one_that_has_them(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    missing = subprocess.run([BARE, "-c", "import aotloop"], capture_output=True, check=False)
    assert missing.returncode != 0, "this interpreter was to be one without aotloop"
    assert call("read_state", python=BARE)["exists"] is True


def test_a_plugin_that_was_copied_away_finds_the_command_on_the_path(project: Path, tmp_path: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    copy = tmp_path / "cache" / "aot-loop"
    shutil.copytree(PLUGIN, copy)
    script = copy / SCRIPTS["read_state"].relative_to(PLUGIN)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run([BARE, str(script)], capture_output=True, check=True, env={**os.environ, "PATH": path})
    assert json.loads(done.stdout)["exists"] is True


def test_without_any_installation_one_line_says_how_to_get_it(project: Path, tmp_path: Path) -> None:
    assert project.exists()
    copy = tmp_path / "cache" / "aot-loop"
    shutil.copytree(PLUGIN, copy)
    script = copy / SCRIPTS["update_atom"].relative_to(PLUGIN)
    done = subprocess.run(
        [BARE, str(script), "A1", "resolved"], capture_output=True, check=False, env={"PATH": "/nowhere"}
    )
    told = json.loads(done.stdout)
    assert (done.returncode, told["success"]) == (1, False)
    assert "install" in told["error"]
    assert done.stderr == b""


def test_what_a_script_starts_is_not_told_that_it_was_started_again(project: Path) -> None:
    assert project.exists()
    told = call("verify_command", "env | grep AOT_TRIED", code=1, python=BARE)
    assert told["exit_code"] == 1


def test_the_shims_hold_no_logic() -> None:
    texts = {path.read_text().replace(name, "NAME") for name, path in SCRIPTS.items()}
    assert len(texts) == 1
    assert len(texts.pop().splitlines()) < 10


def test_a_variable_left_in_the_environment_does_no_harm(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    env = {**os.environ, "AOT_TRIED_INTERPRETERS": "1"}
    assert call("read_state", python=BARE, env=env)["exists"] is True


def test_a_command_that_names_its_interpreter_behind_exec_is_understood(project: Path, tmp_path: Path) -> None:
    """As installers write it where the path is too long for, or has spaces that do not go, behind `#!`."""
    write_loop(project, a_loop(atom("A1")))
    copy = tmp_path / "cache" / "aot-loop"
    shutil.copytree(PLUGIN, copy)
    command = tmp_path / "with space" / "aot"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\n'''exec' '{sys.executable}' \"$0\" \"$@\"\n' '''\n")
    command.chmod(0o755)
    script = copy / SCRIPTS["read_state"].relative_to(PLUGIN)
    done = subprocess.run([BARE, str(script)], capture_output=True, check=True, env={"PATH": str(command.parent)})
    assert json.loads(done.stdout)["exists"] is True


def test_a_command_in_the_current_folder_is_not_trusted_because_a_path_entry_is_empty(
    project: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "cache" / "aot-loop"
    shutil.copytree(PLUGIN, copy)
    evil = project / "python-evil"
    evil.write_text("#!/bin/sh\ntouch pwned\n")
    evil.chmod(0o755)
    (project / "aot").write_text(f"#!{evil}\n")
    (project / "aot").chmod(0o755)
    script = copy / SCRIPTS["read_state"].relative_to(PLUGIN)
    done = subprocess.run([BARE, str(script)], capture_output=True, check=False, env={"PATH": ":."})
    assert done.returncode == 1
    assert not (project / "pwned").exists()
