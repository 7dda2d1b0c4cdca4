"""Who only looks does not write, scripts alone change the loop's file, and what is protected stays."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aotloop.core.model import Loop
from aotloop.hooks.answers import Answer, Deny
from aotloop.hooks.payload import Payload
from aotloop.hooks.pre_tool_use import decide, paths_written
from aotloop.hooks.write_targets import Target, target, writes_to
from tests.hooks.situations import SESSION, driven

NAME = "aot-loop-state.md"
STATE = Target(inside=(f".claude/{NAME}",), is_state_file=True)
ORDINARY = Target(inside=("src/a.py",))


def using(tool: str, agent: str | None = None, **given_: Any) -> Payload:
    return Payload(session_id=SESSION, tool_name=tool, tool_input=given_, agent_type=agent)


def protecting(*patterns: str) -> Loop:
    loop = driven()
    loop.objective = replace(loop.objective, protect=patterns)
    return loop


@pytest.mark.parametrize("agent", ["aot-loop:probe", "aot-loop:verifier"])
@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch"])
@pytest.mark.parametrize("loop", [None, driven(), driven(status="stopped"), driven(session_id="another")])
def test_who_only_looks_does_not_write_whatever_becomes_of_the_loop(tool: str, agent: str, loop: Loop | None) -> None:
    answer = decide(using(tool, agent), loop, [ORDINARY])
    assert isinstance(answer, Deny)
    assert "only looks" in answer.reason


@pytest.mark.parametrize(
    ("tool", "agent"),
    [
        ("Bash", "aot-loop:verifier"),
        ("Read", "aot-loop:probe"),
        ("Write", "aot-loop:worker"),
        ("Write", "aot-loop:coordinator"),
        ("Write", "other:probe"),
        ("Write", "probe"),
        ("Write", None),
    ],
)
def test_everybody_else_is_left_alone(tool: str, agent: str | None) -> None:
    assert decide(using(tool, agent, file_path="src/a.py", command="make"), driven(), [ORDINARY], NAME) == Answer()


@pytest.mark.parametrize("agent", [None, "aot-loop:worker", "aot-loop:coordinator", "general-purpose"])
def test_the_file_of_a_running_loop_is_not_written_by_hand(agent: str | None) -> None:
    answer = decide(using("Edit", agent), driven(), [STATE], NAME)
    assert isinstance(answer, Deny)
    assert "update_atom.py" in answer.reason


@pytest.mark.parametrize(
    "loop", [driven(status="stopped"), driven(status="pending"), driven(session_id="another"), None]
)
def test_the_file_of_any_other_loop_may_be(loop: Loop | None) -> None:
    assert decide(using("Edit"), loop, [STATE], NAME) == Answer()
    assert decide(using("Bash", command=f"rm .claude/{NAME}"), loop, [], NAME) == Answer()


def test_commands_that_plainly_write_to_it_are_denied() -> None:
    assert isinstance(decide(using("Bash", command=f"echo x > .claude/{NAME}"), driven(), [], NAME), Deny)
    assert decide(using("Bash", command=f"cat .claude/{NAME}"), driven(), [], NAME) == Answer()
    assert decide(using("Bash"), driven(), [], NAME) == Answer()


@pytest.mark.parametrize(
    ("pattern", "inside", "is_kept"),
    [
        ("tests/**", ("tests/test_a.py",), True),
        ("tests", ("tests/deep/test_a.py",), True),
        ("*.lock", ("uv.lock",), True),
        ("tests/**", (".claude/worktrees/agent-1/tests/test_a.py", "tests/test_a.py"), True),
        ("tests/**", ("src/tests.py",), False),
        ("tests/**", ("../tests/a.py",), False),
    ],
)
def test_what_is_protected_is_not_written(pattern: str, inside: tuple[str, ...], is_kept: bool) -> None:
    answer = decide(using("Write"), protecting(pattern), [Target(inside=inside)], NAME)
    assert isinstance(answer, Deny) is is_kept


def test_what_is_protected_is_so_only_while_the_loop_runs_and_in_its_session() -> None:
    loop = protecting("tests/**")
    targets = [Target(inside=("tests/a.py",))]
    assert decide(replace(using("Write"), session_id="another"), loop, targets, NAME) == Answer()
    loop.control = replace(loop.control, status="stopped")
    assert decide(using("Write"), loop, targets, NAME) == Answer()


def test_every_tool_names_what_it_writes() -> None:
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n*** Add File: c d.py\n+x\n*** Delete File: e\n"
    )
    assert paths_written(using("Write", file_path="a")) == ["a"]
    assert paths_written(using("NotebookEdit", notebook_path="n.ipynb")) == ["n.ipynb"]
    assert paths_written(using("apply_patch", command=patch)) == ["a.py", "b.py", "c d.py", "e"]
    assert paths_written(using("Bash", command="rm x")) == []
    assert paths_written(using("Write", file_path=7)) == paths_written(using("Write")) == []


@given(
    tool=st.sampled_from(["Write", "Bash", "apply_patch", "Read", ""]),
    agent=st.sampled_from([None, "", "aot-loop:probe", "aot-loop:worker", "x"]),
    words=st.text(max_size=80),
)
def test_it_only_ever_narrows(tool: str, agent: str | None, words: str) -> None:
    answer = decide(using(tool, agent, command=words, file_path=words), protecting("**"), [ORDINARY], NAME)
    assert type(answer) in (Answer, Deny)


# --- commands ----------------------------------------------------------------------------------------------------

FILE = f".claude/{NAME}"


@pytest.mark.parametrize(
    "command",
    [
        f"echo x > {FILE}",
        f"echo x >>{FILE}",
        f"echo x >| '{FILE}'",
        f'cat <<EOF > "{FILE}"\nx\nEOF',
        f"echo x | tee -a {FILE}",
        f"sed -i 's/pending/resolved/' {FILE}",
        f"sed -i.bak s/a/b/ {FILE}",
        f"sed -Ei s/a/b/ {FILE}",
        f"sed --in-place s/a/b/ {FILE}",
        f"perl -pi -e s/a/b/ {FILE}",
        f"mv new.md {FILE}",
        f"mv {FILE} /tmp/x",
        f"cp new.md {FILE}",
        f"cd x && cp new.md ./{FILE}",
        f"rm -f {FILE}",
        f"sudo rm {FILE}",
        f"X=1 rm {FILE}",
        f"/bin/rm {FILE}",
        f"true; truncate -s 0 {FILE}",
        f"dd if=/dev/zero of={FILE}",
        f"git checkout -- {FILE}",
        f"git restore {FILE}",
        f"ln -sf other.md {FILE}",
        f"python3 -c \"open('{FILE}', 'w').write('x')\"",
        f"python - <<'EOF'\nfrom pathlib import Path\nPath('{FILE}').write_text('x')\nEOF",
        f"node -e \"require('fs').writeFileSync('{FILE}', '')\"",
        f"vim {FILE}",
    ],
)
def test_what_plainly_writes_to_the_file_is_known(command: str) -> None:
    assert writes_to(command, NAME)


@pytest.mark.parametrize(
    "command",
    [
        f"cat {FILE}",
        f"grep status {FILE} > /tmp/x",
        f"sed -n 1,20p {FILE}",
        f"cp {FILE} /tmp/backup.md",
        f"git diff {FILE}",
        f"git log --oneline -- {FILE}",
        f"python3 plugin/update_atom.py A1 resolved --state-file {FILE}",
        f"python3 plugin/add_binding.py A1 --summary 'wrote > all' --state-file {FILE} > /dev/null",
        f"AOT_STATE_FILE={FILE} aot status",
        f"python3 -c \"print(open('{FILE}').read())\"",
        f"wc -l {FILE} && rm -rf build",
        "rm -rf build",
        "",
    ],
)
def test_what_only_reads_it_is_not_mistaken(command: str) -> None:
    assert not writes_to(command, NAME)


def test_a_huge_command_takes_no_time_to_speak_of() -> None:
    assert not writes_to("python3 -c 'x' " * 100_000 + f"cat {FILE}", NAME)
    assert writes_to(f"echo > {FILE} " + "x" * 10_000_000, NAME)


# --- which file it is --------------------------------------------------------------------------------------------


def test_links_and_relative_paths_lead_to_the_file_they_mean(project: Path) -> None:
    state = project / ".claude" / NAME
    state.write_text("x")
    (project / "link.md").symlink_to(state)
    (project / "sub").mkdir()
    for path, cwd in [(str(state), "/"), ("link.md", str(project)), (f"../.claude/{NAME}", str(project / "sub"))]:
        assert target(path, cwd, str(state.resolve())).is_state_file
    assert target(f".claude/.{NAME}.log", str(project), str(state.resolve())).is_state_file
    (project / "alias").symlink_to(project / "sub")
    assert target("alias/new.md", str(project), str(state.resolve())).inside == ("sub/new.md",)
    other = target("sub/new.md", str(project), str(state.resolve()))
    assert other == Target(inside=("sub/new.md",), is_state_file=False)


def test_in_a_worktree_the_project_s_files_are_known_by_their_names_there(project: Path) -> None:
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", str(project)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "begin"], check=True)
    tree = project / ".claude" / "worktrees" / "agent-1"
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    found = target(str(tree / "tests" / "a.py"), str(tree), str((project / ".claude" / NAME).resolve()))
    assert found.inside == (".claude/worktrees/agent-1/tests/a.py", "tests/a.py")
