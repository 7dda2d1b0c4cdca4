"""`aot atom add | decompose`: the work grows, and only by what says something."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.statefile.store import Store
from tests.cli.terminal import aot, spawn
from tests.loops import a_loop, atom, write_loop


def test_a_new_atom_gets_the_next_free_name(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), atom("A7")))
    ran = aot("atom", "add", "Write: the\nparser", "--depends-on", "A1", "--depends-on", "A7", "--estimate", "2.5")
    assert ran.code == 0
    added = Store(str(path)).load().atoms[-1]
    assert added == atom(added.id, "A1", "A7", description="Write: the\nparser", estimate=2.5)
    assert added.id not in ("A1", "A7")
    assert ran.out == f"✔ added {added.id}: Write: the parser\n"
    assert ran.err == "Next: aot graph  ·  aot run\n"


def test_dependencies_can_be_listed_with_commas(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), atom("A2")))
    assert aot("atom", "add", "x", "--depends-on", "A1,A2", "--json").json["depends_on"] == ["A1", "A2"]


def test_a_choice_makes_its_group(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1")))
    aot("atom", "add", "tokens", "--id", "A2", "--or-group", "way")
    aot("atom", "add", "sessions", "--id", "A2_alt", "--or-group", "way")
    group = Store(str(path)).load().or_groups["way"]
    assert (group.choices, group.selected) == (("A2", "A2_alt"), "A2")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["add", ""], "blank"),
        (["add", " \n"], "blank"),
        (["add", "x", "--id", " "], "blank"),
        (["add", "x", "--or-group", ""], "blank"),
        (["add", "x", "--run", " "], "blank"),
        (["add", "x", "--estimate", "-3"], "not a number above 0"),
        (["add", "x", "--estimate", "nan"], "not a number above 0"),
        (["add", "x", "--estimate", "inf"], "not a number above 0"),
        (["add", "x", "--estimate", "soon"], "not a number above 0"),
        (["decompose", "A1", "--child", "", "--reason", "x"], "blank"),
        (["decompose", "A1", "--child", "x", "--reason", ""], "blank"),
        (["fail", "A1", "--reason", " "], "blank"),
        (["resolve", "A1", "--summary", " "], "blank"),
    ],
)
def test_what_says_nothing_is_a_mistake_in_usage(project: Path, words: list[str], told: str) -> None:
    path = write_loop(project, a_loop(atom("A1", status="in_progress")))
    before = path.read_bytes()
    ran = aot("atom", *words)
    assert ran.code == 2
    assert told in ran.err
    assert path.read_bytes() == before


def test_bytes_that_are_no_text_are_a_mistake_in_usage(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="in_progress")))
    before = path.read_bytes()
    for words in (
        [b"add", b"bad \xff"],
        [b"fail", b"A1", b"--reason", b"\xff"],
        [b"resolve", b"A1", b"--artifact", b"\xff"],
    ):
        ran = spawn(b"atom", *words)
        assert ran.code == 2
        assert "not valid UTF-8" in ran.err
    assert path.read_bytes() == before


def test_a_name_that_is_taken_is_refused(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    ran = aot("atom", "add", "x", "--id", "A1")
    assert ran.code == 1
    assert "A1" in ran.err


def test_a_decomposed_atom_is_replaced_by_its_children(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1", status="resolved"), atom("A2", "A1")))
    ran = aot("atom", "decompose", "A2", "--child", "lexer", "--child", "grammar", "--reason", "large", "--json")
    assert ran.code == 0
    first, second = ran.json["children"]
    atoms = {one.id: one for one in Store(str(path)).load().atoms}
    assert [atoms[first].description, atoms[second].description] == ["lexer", "grammar"]
    assert atoms[first].depends_on == ("A1",)
    assert aot("atom", "list", "--ready", "--json").json["executable_atoms"] == [first, second]


def test_an_atom_covers_items_of_the_base_case_and_no_others(project: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command="make test"))
    before = path.read_bytes()
    ran = aot("atom", "add", "x", "--covers", "command: make tests")
    assert ran.code == 1
    assert "the base case has no item 'command: make tests'; did you mean command: make test?" in ran.err
    assert path.read_bytes() == before
    assert aot("atom", "add", "x", "--covers", "command: make test").code == 0
    assert Store(str(path)).load().atoms[-1].covers == ("command: make test",)
    shown = aot("atom", "show", "A2").out
    assert "  covers      command: make test\n" in shown
    assert "  check       command: make test\n" in shown


def test_what_an_atom_covers_is_run_before_it_is_resolved(project: Path) -> None:
    covering = atom("A1", status="in_progress", covers=("command: test -f there",))
    path = write_loop(project, a_loop(covering, atom("A2"), command="test -f there"))
    assert aot("atom", "resolve", "A1").code != 0  # nobody accepted the command yet
    refused = aot("atom", "resolve", "A1", "--yes")
    assert refused.code == 1
    assert "A1 does not pass its check: command: test -f there: exit 1" in refused.err
    assert Store(str(path)).load().atoms[0].status == "in_progress"
    (project / "there").touch()
    assert aot("atom", "resolve", "A1", "--yes").code == 0
    assert Store(str(path)).load().atoms[0].status == "resolved"
