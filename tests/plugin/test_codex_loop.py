"""A whole loop in the real Codex, with the plugin installed as a person installs it: typed, worked on, kept, let go."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.core.commands import commands_of
from aotloop.core.model import BaseCase, Loop
from aotloop.statefile.reader import decode
from aotloop.trust.accepted_commands import digest_of
from tests.cli.terminal import spawn
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_codex
from tests.modelserver.script import Step
from tests.plugin.codex_stage import UNTRUSTED_TOO, CodexStage
from tests.plugin.test_install import codex_home
from tests.plugin.tokens import token_in

pytestmark = needs_codex

ENTER = "$aot-loop:source-command-enter-recursion"
WITH_PLUGINS = ("-c", "features.plugins=true")


class Installed:
    def __init__(self, stage: CodexStage, copy: Path) -> None:
        self.stage = stage
        self._scripts = {path.stem: path for path in copy.glob("skills/*/scripts/*.py")}

    def script(self, name: str, *words: str) -> str:
        return shlex.join(["python3", str(self._scripts[name]), *words])

    @property
    def loop(self) -> Loop:
        return decode((self.stage.project / ".claude" / "aot-loop-state.md").read_bytes())


@pytest.fixture
def codex(tmp_path: Path, own_home: Path, clients: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    assert clients.exists()
    home = codex_home(own_home, monkeypatch)
    assert spawn("plugin", "install", "--client", "codex").code == 0
    stage = CodexStage(tmp_path / "stage", own_home)
    return Installed(stage, home / "plugins" / "cache" / "aotloop" / "aot-loop" / version("aotloop"))


def shell(*commands: str) -> Call:
    return Call(tool("exec_command", cmd=" && ".join(commands)))


def instructions(exchange: Exchange) -> list[str]:
    return [text for text in exchange.texts if text.startswith("<hook_prompt")]


def test_a_loop_from_the_typed_command_to_a_base_case_that_holds(codex: Installed) -> None:
    check = BaseCase(type="command", value="grep -q hello hello.txt")
    loop = a_loop(atom("A1"), atom("A2", "A1"), status="pending", base_case=check)
    path = write_loop(codex.stage.project, loop)
    digest = digest_of(str(path), commands_of(loop))
    codex.stage.hook("project")

    def integrated(atom_id: str) -> Callable[[Exchange], Call]:
        def turn(exchange: Exchange) -> Call:
            words = ("--token", token_in(exchange, atom_id), "--in-place", "--summary", f"did {atom_id}")
            return shell(codex.script("integrate", atom_id, *words))

        return turn

    def begun(atom_id: str, work: str) -> Call:
        return shell(codex.script("update_atom", atom_id, "in_progress"), work)

    turns: list[Step] = [
        shell(codex.script("enter_loop")),
        Say("it has begun"),
        begun("A1", "echo hello > hello.txt"),
        integrated("A1"),
        Say("A1 is done"),
        begun("A2", "echo bye > bye.txt"),
        integrated("A2"),
        Say("all is done"),
        shell(codex.script("verify_checklist")),
        Say("verified"),
    ]
    with ModelServer([Script("enter-recursion", turns)]) as server:
        run = codex.stage.run(server, f"{ENTER} accept {digest}", *WITH_PLUGINS, UNTRUSTED_TOO)
        assert server.lost == []
        texts, results = server.played[-1].exchange.texts, server.played[-1].exchange.results
        told = instructions(server.played[-1].exchange)
    assert any("# Enter the loop" in text for text in texts), "the command's text, as a skill"
    assert "A1: do A1" in told[0]
    assert "A2: do A2" in told[1]
    assert "Verify now" in told[2]
    assert len(told) == 3
    loop = codex.loop
    assert (run.code, loop.control.status, loop.control.iteration) == (0, "completed", 1), results
    assert loop.control.session_id == run.session
    assert len(run.told("Stop")) == 4
    log = subprocess.run(
        ["git", "log", "--format=%(trailers:key=Aot-Atom,valueonly)"],
        cwd=codex.stage.project,
        capture_output=True,
        check=True,
    )
    assert sorted(log.stdout.split()) == [b"A1", b"A2"]


def test_without_the_person_s_consent_nothing_begins_and_the_session_may_end(codex: Installed) -> None:
    check = BaseCase(type="command", value="touch ran")
    write_loop(codex.stage.project, a_loop(atom("A1"), status="pending", base_case=check))
    turns = [shell(codex.script("enter_loop") + " || true"), Say("it was refused")]
    with ModelServer([Script("enter-recursion", turns)]) as server:
        run = codex.stage.run(server, f"{ENTER} accept {'0' * 16}", *WITH_PLUGINS, UNTRUSTED_TOO)
        assert server.lost == []
        (refused,) = server.played[-1].exchange.results
        body = json.dumps(json.loads(server.played[0].request.body))
    assert "are not the ones that were shown" in body
    assert "has not accepted the commands" in refused
    assert not (codex.stage.project / "ran").exists()
    assert (run.code, codex.loop.control.status, codex.loop.control.iteration) == (0, "pending", 0)


def bound_to(holder: str | None) -> Loop:
    loop = a_loop(atom("A1"), base_case=BaseCase(type="file", value="a.txt"))
    loop.control = replace(loop.control, session_id=holder)
    return loop


@pytest.mark.parametrize(("prompt", "holder"), [("Please enter-recursion.", None), (f"{ENTER} take-over", "another")])
def test_a_loop_is_driven_by_the_session_in_which_the_person_asks_for_it(
    codex: Installed, prompt: str, holder: str | None
) -> None:
    """Said in words, no hook binds it; the script does, which knows the session from its environment."""
    write_accepted(codex.stage.project, bound_to(holder))
    turns = [
        shell(codex.script("enter_loop")),
        Say("let us see"),
        shell(codex.script("request_stop")),
        Say("ended"),
    ]
    with ModelServer([Script("enter-recursion", turns)]) as server:
        run = codex.stage.run(server, prompt, *WITH_PLUGINS, UNTRUSTED_TOO)
        assert server.lost == []
        (told,) = instructions(server.played[-1].exchange)
    assert "A1: do A1" in told
    control = codex.loop.control
    assert (control.session_id, control.stop_reason) == (run.session, "user: stop requested")


def test_a_loop_of_another_session_stays_there_and_the_person_is_told_how_to_get_it(codex: Installed) -> None:
    write_accepted(codex.stage.project, bound_to("another"))
    with ModelServer([Script("enter-recursion", [shell(codex.script("enter_loop")), Say("ended")])]) as server:
        codex.stage.run(server, ENTER, *WITH_PLUGINS, UNTRUSTED_TOO)
        assert server.lost == []
        first, last = server.played[0].request.body, server.played[-1].exchange
    assert f"`{ENTER} take-over`".encode() in first
    assert "another session (another) drives this loop" in last.results[0]
    control = codex.loop.control
    assert (control.session_id, control.status, control.iteration) == ("another", "running", 0)
