"""All commands of a file are known before one of them is run."""

from __future__ import annotations

from typing import Any

from aotloop.core.commands import commands_of
from aotloop.core.model import AtomCheck, BaseCase, Check, ChecklistItem
from tests.loops import a_loop, atom


def leaf(check_type: Any, value: str | None = None) -> ChecklistItem:
    return ChecklistItem(item=f"{check_type} {value}", check=Check(type=check_type, value=value))


def test_the_single_check_of_an_old_file_is_a_command() -> None:
    assert commands_of(a_loop(atom("A1"), command="make test")) == ["make test"]


def test_commands_come_in_the_order_base_case_then_atoms_each_with_run_before_check() -> None:
    tree = (
        ChecklistItem(item="all", group=(leaf("command", "one"), leaf("not_command", "two"))),
        ChecklistItem(item="any", any_of=(ChecklistItem(item="deep", group=(leaf("command", "three"),)),)),
    )
    loop = a_loop(
        atom("A1", check=AtomCheck(any_of=(leaf("command", "five"), leaf("command", "six"))), run="four"),
        atom("A2", check=AtomCheck(group=(leaf("not_command", "seven"),))),
        atom("A3", check=AtomCheck(type="not_command", value="eight")),
        base_case=BaseCase(checklist=tree),
    )
    assert commands_of(loop) == ["one", "two", "three", "four", "five", "six", "seven", "eight"]


def test_each_command_is_listed_once_where_it_comes_first() -> None:
    loop = a_loop(
        atom("A1", run="b"), atom("A2", run="a"), atom("A3", check=AtomCheck(type="command", value="b")), command="a"
    )
    assert commands_of(loop) == ["a", "b"]


def test_files_and_judgements_are_no_commands() -> None:
    tree = (
        leaf("file", "rm.txt"),
        leaf("not_file", "rm.txt"),
        leaf("assertion", "rm is gone"),
        ChecklistItem(item="code", check=Check(type="quality", criteria="clear", pass_threshold=3)),
    )
    assert commands_of(a_loop(atom("A1"), base_case=BaseCase(checklist=tree))) == []


def test_a_command_that_is_not_given_is_not_listed() -> None:
    assert commands_of(a_loop(atom("A1"), base_case=BaseCase(type="command"))) == []


def test_commands_of_atoms_that_will_not_run_are_listed_too() -> None:
    loop = a_loop(
        atom("A1", or_group="g", run="x"), atom("A2", or_group="g", run="y"), atom("A3", status="resolved", run="z")
    )
    assert commands_of(loop) == ["true", "x", "y", "z"]


def test_whom_an_atom_asks_for_is_told_as_a_comment_of_one_line() -> None:
    loop = a_loop(atom("A1", agent="codex"), atom("A2"), atom("A\n3", agent="x\ny"), command="true")
    assert commands_of(loop) == [
        "true",
        "# atom A1 asks for the agent codex",
        "# atom 'A\\n3' asks for the agent 'x\\ny'",
    ]
