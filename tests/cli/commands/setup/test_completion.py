"""Shells complete commands, options, atoms, groups and choices; without a loop they complete nothing, silently."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop

BASH = shutil.which("bash")


@pytest.fixture(autouse=True)
def loop(project: Path) -> None:
    atoms = [
        atom("A1", status="resolved"),
        atom("A2", "A1"),
        atom("A3", "A1", status="in_progress"),
        atom("A4_jwt", "A2", or_group="way"),
        atom("A4_alt", "A2", or_group="way"),
        atom("B1"),
        atom("with blank"),
    ]
    write_loop(project, a_loop(*atoms))


def completed(line: str, *, shell: str = "bash") -> list[str]:
    """What the shell's script gets for a line, the cursor at its end."""
    words = line.split(" ")
    environ = {
        **os.environ,
        "_AOT_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    command = [str(Path(sys.executable).with_name("aot"))]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [row.partition(",")[2] for row in done.stdout.splitlines() if row]


@pytest.mark.skipif(BASH is None, reason="there is no bash")
def test_bash_completes_an_atom_with_the_script_we_print() -> None:
    assert BASH is not None
    Path("aot.bash").write_text(aot("completion", "bash").out)
    script = """
source aot.bash
rule=$(complete -p aot) || exit 3
[[ $rule =~ -F\\ ([^ ]+) ]] || exit 4
COMP_WORDS=(aot atom start A) COMP_CWORD=3 COMP_LINE="aot atom start A" COMP_POINT=16
"${BASH_REMATCH[1]}" aot A start
printf '%s\\n' "${COMPREPLY[@]}"
"""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [BASH, "--norc", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["A2"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_script(shell: str) -> None:
    ran = aot("completion", shell)
    assert ran.code == 0
    assert "_AOT_COMPLETE" in ran.out
    assert "aot" in ran.out


def test_another_shell_is_a_mistake_in_usage() -> None:
    ran = aot("completion", "tcsh")
    assert ran.code == 2
    assert "'bash', 'zsh', 'fish'" in ran.err


def test_commands_and_options_are_completed() -> None:
    assert completed("aot va") == ["validate"]
    assert set(completed("aot atom ")) >= {"add", "start", "resolve", "fail", "decompose", "show", "list"}
    assert completed("aot status --js") == ["--json"]
    assert completed("aot graph --format m") == ["mermaid"]


def test_each_command_is_offered_the_atoms_it_can_use() -> None:
    assert completed("aot atom start ") == ["A2", "B1", "with blank"]
    assert completed("aot atom resolve A") == ["A3"]
    assert completed("aot atom fail A") == ["A3"]
    assert completed("aot atom show A4") == ["A4_jwt", "A4_alt"]
    assert completed("aot log B") == ["B1"]
    assert completed("aot atom add x --depends-on B") == ["B1"]


def test_groups_and_their_other_choices_are_completed() -> None:
    assert completed("aot or select w") == ["way"]
    assert completed("aot or select way ") == ["A4_alt"]
    assert completed("aot atom add x --or-group w") == ["way"]


def test_another_file_is_asked_for_its_own_atoms(project: Path) -> None:
    write_loop(project, a_loop(atom("Z9"))).rename(project / "other.md")
    assert completed("aot atom show --state-file other.md Z") == ["Z9"]


def test_a_file_that_cannot_be_read_completes_nothing(project: Path) -> None:
    state_file = project / ".claude" / "aot-loop-state.md"
    state_file.write_text("---\nbroken: [\n")
    assert completed("aot atom start ") == []
    state_file.unlink()
    assert completed("aot atom start ") == []
    state_file.mkdir()
    assert completed("aot atom start ") == []


def test_fish_is_told_what_an_atom_is_about() -> None:
    environ = {**os.environ, "_AOT_COMPLETE": "fish_complete", "COMP_WORDS": "aot atom show ", "COMP_CWORD": "A2"}
    command = [str(Path(sys.executable).with_name("aot"))]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert "A2" in done.stdout
    assert "do A2" in done.stdout


def test_names_from_the_file_are_quoted_in_bash_and_run_nothing(tmp_path: Path) -> None:
    """A completion is put on the command line as it is."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    fake = tmp_path / "aot"
    fake.write_text("#!/bin/sh\nprintf '%s\\n' 'plain,$(touch ran)' 'plain,*' 'plain,a b' 'plain,A1'\n")
    fake.chmod(0o755)
    script = aot("completion", "bash").out
    driver = (
        f"{script}\nCOMP_WORDS=(aot ''); COMP_CWORD=1; _aot_completion {fake}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(["bash", "-c", driver], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["\\$\\(touch\\ ran\\)", "\\*", "a\\ b", "A1"]
    assert not (tmp_path / "ran").exists()
