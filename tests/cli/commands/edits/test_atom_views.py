"""`aot atom list | show`: what is known about atoms, and why one cannot start."""

from __future__ import annotations

from pathlib import Path

from aotloop.core.model import AtomCheck, Binding, TrailEntry
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def test_the_list_says_why_an_atom_waits(project: Path) -> None:
    write_loop(
        project,
        a_loop(
            atom("A1", status="resolved"),
            atom("A2_long", "A1", description="two\nlines", attempts=1),
            atom("A3", "A2_long"),
            atom("A4", status="in_progress"),
        ),
    )
    ran = aot("atom", "list")
    assert ran.out.splitlines() == [
        "✔ A1       do A1",
        "○ A2_long  two lines  ready, failed once",
        "○ A3       do A3  A3 waits for A2_long",
        "● A4       do A4",
    ]
    assert ran.err == "Next: aot atom start A2_long\n"


def test_only_what_is_ready_can_be_listed(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), atom("A2", "A1")))
    assert aot("atom", "list", "--ready").out == "○ A1  do A1  ready\n"
    as_json = aot("atom", "list", "--ready", "--json").json
    assert [one["id"] for one in as_json["atoms"]] == as_json["executable_atoms"] == ["A1"]


def test_an_empty_list_says_so(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved")))
    assert aot("atom", "list", "--ready").out == "No atom can start now.\n"


def test_everything_about_an_atom_is_shown(project: Path) -> None:
    shown = atom(
        "A2",
        "A1",
        status="in_progress",
        run="make x",
        check=AtomCheck(type="file", value="x.txt"),
        touches=("src/**",),
        estimate=3.0,
    )
    failed = TrailEntry(
        or_group=None, selected=None, reason="no luck", timestamp="t", type="failure", atom="A2", attempt=1
    )
    loop = a_loop(
        atom("A1", status="resolved"),
        shown,
        atom("A3", "A2"),
        bindings={"A2": Binding(summary="half\ndone", artifacts=("a.py", "b.py"))},
        trail=[failed],
    )
    write_loop(project, loop)
    ran = aot("atom", "show", "A2")
    assert [line.split(None, 1) for line in ran.out.splitlines()] == [
        ["A2", "do A2"],
        ["status", "in_progress"],
        ["waits", "for   A1"],
        ["needed", "by   A3"],
        ["run", "make x"],
        ["check", "file: x.txt"],
        ["touches", "src/**"],
        ["estimate", "3 min"],
        ["result", "half done"],
        ["artifacts", "a.py, b.py"],
        ["failed", "no luck"],
    ]
    assert "aot atom resolve A2" in ran.err


def test_json_has_everything_too(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), atom("A2", "A1")))
    facts = aot("atom", "show", "A2", "--json").json
    assert facts["id"] == "A2"
    assert facts["ready"] is False
    assert facts["not_ready"] == "A2 waits for A1"
    assert facts["required"] is True


def test_a_name_that_does_not_exist_leads_to_one_that_does(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), atom("parser"), atom("B2")))
    for words in (["atom", "show"], ["atom", "start"], ["atom", "resolve"], ["log"]):
        ran = aot(*words, "a1")
        assert (ran.code, ran.err) == (1, "aot: there is no atom a1\n     Did you mean A1?\n")
    assert "Did you mean parser?" in aot("atom", "show", "praser").err
    assert "There are: A1, parser, B2." in aot("atom", "show", "zzzzzz").err
    assert "Did you mean B2?" in aot("atom", "add", "x", "--depends-on", "b2").err
    assert "Did you mean B2?" in aot("atom", "fail", "b2", "--reason", "x").err
    assert "Did you mean B2?" in aot("atom", "decompose", "b2", "--reason", "x", "--child", "y").err


def test_of_many_atoms_only_their_number_is_told(project: Path) -> None:
    write_loop(project, a_loop(*(atom(f"A{number}") for number in range(50))))
    ran = aot("atom", "show", "zzzzzz")
    assert ran.err == "aot: there is no atom zzzzzz\n     There are 50; `aot atom list` shows them.\n"
