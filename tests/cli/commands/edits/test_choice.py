"""`aot or select`: another choice, chosen by a person."""

from __future__ import annotations

from pathlib import Path

from aotloop.statefile.store import Store
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def two_ways(project: Path) -> Path:
    choices = [atom("A1", or_group="way", status="resolved"), atom("A2", or_group="way")]
    return write_loop(project, a_loop(*choices, atom("A3", "A1", status="resolved")))


def test_what_was_built_on_the_left_choice_is_reset(project: Path) -> None:
    path = two_ways(project)
    ran = aot("or", "select", "way", "A2", "--reason", "too slow")
    assert (ran.code, ran.out) == (0, "✔ way: A1 → A2; 2 atoms reset\n")
    assert ran.err == "Next: aot atom start A2  ·  aot status\n"
    loop = Store(str(path)).load()
    assert (loop.or_groups["way"].selected, loop.or_groups["way"].failed) == ("A2", ("A1",))
    assert [one.status for one in loop.atoms] == ["pending"] * 3
    assert loop.trail[-1].reason == "too slow"


def test_json_names_what_was_reset(project: Path) -> None:
    two_ways(project)
    ran = aot("or", "select", "way", "A2", "--reason", "too slow", "--json")
    assert ran.json == {"success": True, "or_group": "way", "left": "A1", "selected": "A2", "reset": ["A1", "A3"]}


def test_what_is_no_group_or_no_choice_is_refused(project: Path) -> None:
    path = two_ways(project)
    before = path.read_bytes()
    unknown = aot("or", "select", "wya", "A2", "--reason", "x")
    assert (unknown.code, unknown.err) == (1, "aot: there is no group wya\n     Did you mean way?\n")
    no_choice = aot("or", "select", "way", "A3", "--reason", "x")
    assert no_choice.code == 1
    assert "A3 is no choice of way" in no_choice.err
    assert aot("or", "select", "way", "A2", "--reason", " ").code == 2
    assert path.read_bytes() == before


def test_a_file_without_groups_says_so(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    assert "The file has no groups yet." in aot("or", "select", "way", "A2", "--reason", "x").err
