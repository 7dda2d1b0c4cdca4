"""A person names an item of the base case: by its name, its number or its path."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.core.model import BaseCase, ChecklistItem, Loop
from tests.cli.judged_loops import FAST, NICE, RUNS, done_but_judged, item, loop_in
from tests.cli.terminal import aot, spawn
from tests.loops import a_loop, atom, write_loop


def nested() -> Loop:
    looks = ChecklistItem(item="looks", group=(item("nice", "third"), item("own", "fourth")))
    either = ChecklistItem(item="either", any_of=(item("runs", "false", "command"), item("nice", "fifth")))
    return done_but_judged(item("nice", "first"), item("nice", "second"), looks, either)


@pytest.mark.parametrize(
    ("name", "confirmed"),
    [
        ("nice", "nice"),
        ("nice (2)", "nice (2)"),
        ("looks / nice", "looks / nice"),
        ("either / nice", "either / nice"),
        ("own", "looks / own"),
    ],
)
def test_the_item_that_is_named_is_the_one_that_is_meant(checkout: Path, name: str, confirmed: str) -> None:
    write_loop(checkout, nested())
    data = spawn("confirm", name, "--yes", "--json").json
    assert data["confirmed"] == [confirmed]
    waiting = {one["item"] for one in data["skipped"]}
    everything = {"nice", "nice (2)", "looks / nice", "looks / own", "either / nice"}
    assert waiting == everything - {confirmed}


@pytest.mark.parametrize(
    ("name", "told", "hint"),
    [
        ("nise", "there is no item nise", "Did you mean 'nice'?"),
        ("zzz", "there is no item zzz", "There are: 'nice', 'nice (2)', 'looks / nice', 'looks / own'"),
        ("runs", "runs is checked by a program (command)", "aot verify"),
    ],
)
def test_names_that_mean_nothing_are_told_from_those_that_do(checkout: Path, name: str, told: str, hint: str) -> None:
    path = write_loop(checkout, nested())
    before = path.read_bytes()
    for words in ([name], ["--reject", name, "--reason", "x"]):
        ran = aot("confirm", *words, "--json")
        assert ran.code == 1
        assert told in ran.json["error"]
        assert hint in ran.json["hint"]
    assert path.read_bytes() == before


def test_a_last_name_that_several_have_is_not_enough(checkout: Path) -> None:
    groups = [ChecklistItem(item=name, group=(item("ok", name),)) for name in ("one", "two")]
    write_loop(checkout, done_but_judged(*groups))
    ran = aot("confirm", "ok")
    assert ran.code == 1
    assert "ok could be any of 2 items\n     Name it in full: 'one / ok', 'two / ok'." in ran.err


def test_a_base_case_without_judged_items_needs_nobodys_word(checkout: Path) -> None:
    path = write_loop(checkout, done_but_judged(RUNS))
    assert "no item of the base case waits for a person" in aot("confirm", "nice").err
    assert spawn("confirm", "--yes").code == 0  # that somebody asks is enough
    assert loop_in(path).control.status == "completed"


def test_an_old_single_assertion_is_named_by_its_words(checkout: Path) -> None:
    path = write_loop(checkout, a_loop(atom("A1"), base_case=BaseCase(type="assertion", value="it is nice")))
    assert spawn("confirm", "assertion: it is nice").code == 0
    assert loop_in(path).control.status == "completed"


def test_a_shell_completes_what_a_person_can_decide(checkout: Path) -> None:
    write_loop(checkout, done_but_judged(RUNS, NICE, FAST))
    for words in ("aot confirm ", "aot confirm --reject "):
        line = {"_AOT_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        assert spawn(environ=line).out == "plain,nice\nplain,fast\n"
    (checkout / ".claude" / "aot-loop-state.md").unlink()
    nothing = spawn(environ=line)
    assert (nothing.out.strip(), nothing.err) == ("", "")
