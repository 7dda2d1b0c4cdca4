"""A loop in the *interactive* Codex: a person types the command, and permits what is asked."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.commands import commands_of
from aotloop.core.model import BaseCase
from aotloop.trust.accepted_commands import digest_of
from tests.loops import a_loop, atom, write_loop
from tests.modelserver import Call, Exchange, ModelServer, Say, Script
from tests.modelserver.clients import needs_codex
from tests.modelserver.script import Step
from tests.plugin import test_codex_loop
from tests.plugin.codex_stage import UNTRUSTED_TOO
from tests.plugin.interactive import needs_tmux
from tests.plugin.interactive_codex import InteractiveCodex
from tests.plugin.test_codex_loop import ENTER, WITH_PLUGINS, Installed, shell
from tests.plugin.tokens import token_in

pytestmark = [needs_codex, needs_tmux]
codex = test_codex_loop.codex


def test_a_loop_typed_by_a_person_is_kept_going_by_the_hook_and_completed(codex: Installed, own_home: Path) -> None:
    loop = a_loop(atom("A1"), status="pending", base_case=BaseCase(type="command", value="grep -q hello hello.txt"))
    path = write_loop(codex.stage.project, loop)

    def integrated(exchange: Exchange) -> Call:
        words = ("--token", token_in(exchange, "A1"), "--in-place", "--summary", "did A1")
        return shell(codex.script("integrate", "A1", *words))

    turns: list[Step] = [
        shell(codex.script("enter_loop")),
        Say("it has begun"),
        shell(codex.script("update_atom", "A1", "in_progress"), "echo hello > hello.txt"),
        integrated,
        Say("A1 is done"),
        shell(codex.script("verify_checklist")),
        Say("it was verified"),
    ]
    options = (*WITH_PLUGINS, UNTRUSTED_TOO, "--sandbox", "danger-full-access")
    with (
        ModelServer([Script("enter-recursion", turns)]) as server,
        InteractiveCodex(codex.stage, own_home, server, *options) as person,
    ):
        person.type(f"{ENTER} accept {digest_of(str(path), commands_of(loop))}")
        person.reads("it was verified")
        person.until(lambda: codex.loop.control.status == "completed")
        assert server.lost == []
    assert person.permitted == 0, "with full access, it asks nothing"
