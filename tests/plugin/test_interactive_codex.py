"""A loop in the *interactive* Codex: a person types, permits, compacts, redirects, and opens a second session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aotloop.core.commands import commands_of
from aotloop.core.model import BaseCase
from aotloop.trust.accepted_commands import digest_of
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.modelserver import Call, Exchange, ModelServer, Say, Script, tool
from tests.modelserver.clients import needs_codex
from tests.modelserver.script import Step
from tests.patience import shell_until_there
from tests.plugin import test_codex_loop
from tests.plugin.codex_stage import UNTRUSTED_TOO
from tests.plugin.interactive import needs_tmux
from tests.plugin.interactive_codex import TITLE, InteractiveCodex
from tests.plugin.test_codex_loop import ENTER, WITH_PLUGINS, Installed, shell
from tests.plugin.tokens import token_in

pytestmark = [needs_codex, needs_tmux]
codex = test_codex_loop.codex

REDIRECT = "$aot-loop:source-command-redirect"
PLUGIN = (*WITH_PLUGINS, UNTRUSTED_TOO)
FULL_ACCESS = ("--sandbox", "danger-full-access")
SANDBOXED = ("--sandbox", "workspace-write", "--ask-for-approval", "on-request")
OPTIONS = (*PLUGIN, *FULL_ACCESS)
HELLO = BaseCase(type="command", value="grep -q hello hello.txt")


def begun(codex: Installed, work: str) -> Call:
    return shell(codex.script("update_atom", "A1", "in_progress"), work)


def outside(call: Call) -> Call:
    """The call asks to run outside of the sandbox, as a model does after a refusal."""
    (one,) = call.calls
    assert isinstance(one.arguments, dict)
    return Call(tool(one.name, **one.arguments, sandbox_permissions="require_escalated", justification="it is ours"))


def integrated(codex: Installed) -> Callable[[Exchange], Call]:
    def turn(exchange: Exchange) -> Call:
        words = ("--token", token_in(exchange, "A1"), "--in-place", "--summary", "did A1")
        return shell(codex.script("integrate", "A1", *words))

    return turn


@pytest.mark.parametrize(("mode", "questions"), [(FULL_ACCESS, 0), (SANDBOXED, 4)])
def test_the_person_is_asked_exactly_so_often_in_a_loop_of_one_atom(
    codex: Installed, own_home: Path, mode: tuple[str, ...], questions: int
) -> None:
    """The scripts write outside of the project: in its sandbox, a model has to ask for each of its calls."""
    loop = a_loop(atom("A1"), status="pending", base_case=HELLO)
    path = write_loop(codex.stage.project, loop)
    take = integrated(codex)
    turns: list[Step] = [
        outside(shell(codex.script("enter_loop"))),
        Say("it has begun"),
        outside(begun(codex, "echo hello > hello.txt")),
        lambda exchange: outside(take(exchange)),
        Say("A1 is done"),
        outside(shell(codex.script("verify_checklist"))),
        Say("it was verified"),
    ]
    with (
        ModelServer([TITLE, Script("enter-recursion", turns)]) as server,
        InteractiveCodex(codex.stage, own_home, server, *PLUGIN, *mode) as person,
    ):
        person.type(f"{ENTER} accept {digest_of(str(path), commands_of(loop))}")
        person.reads("it was verified")
        person.until(lambda: codex.loop.control.status == "completed")
        assert server.lost == []
    assert person.permitted == questions


def test_compaction_a_second_session_and_a_redirect_in_mid_run(
    codex: Installed, own_home: Path, tmp_path: Path
) -> None:
    """Codex has no coordinator in the background: the session works itself, and Esc ends its turn."""
    write_accepted(codex.stage.project, a_loop(atom("A1"), status="pending", base_case=HELLO))
    never = tmp_path / "never"
    first: list[Step] = [
        shell(codex.script("enter_loop")),
        begun(codex, f"echo half > hello.txt; {shell_until_there(never)}"),
    ]
    redirected: list[Step] = [
        shell(codex.script("request_redirect")),
        shell(codex.script("apply_correction", "retry", "--atom", "A1", "--description", "another way")),
        Say("it goes on"),
        begun(codex, "echo hello > hello.txt"),
        integrated(codex),
        Say("A1 is done"),
        shell(codex.script("verify_checklist")),
        Say("it was verified"),
    ]
    scripts = [
        TITLE,
        Script("a second session", [shell(codex.script("enter_loop")), Say("it was refused")]),
        Script("enter-recursion", [*first, Say("this is the summary"), *redirected]),
    ]
    with ModelServer(scripts) as server, InteractiveCodex(codex.stage, own_home, server, *OPTIONS) as person:
        person.type(ENTER)
        person.until(lambda: codex.loop.atoms[0].status == "in_progress")
        with InteractiveCodex(codex.stage, own_home, server, *OPTIONS) as stranger:
            stranger.type("a second session")
            stranger.reads("it was refused")
        person.interrupt()
        person.type("/compact")
        person.until_compacted()
        person.type(f"{REDIRECT} another way")
        person.reads("it was verified")
        person.until(lambda: codex.loop.control.status == "completed")
        asked = [record.exchange for record in server.played]
        assert server.lost == []
        never.touch()
    assert any("another session" in result for one in asked for result in one.results)
    assert [one.type for one in codex.loop.corrections] == ["dag_adjustment"]
    assert (codex.stage.project / "hello.txt").read_text() == "hello\n"
