"""`aot graph` draws on the terminal, into the pipe, or into a file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.terminal import aot, on_terminal, spawn
from tests.loops import a_loop, atom, write_loop


@pytest.fixture(autouse=True)
def loop(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), atom("A2", "A1")))


def test_text_is_drawn_on_standard_output() -> None:
    ran = aot("graph")
    assert ran.code == 0
    assert "A2" in ran.out
    assert "aot atom list" in ran.err
    assert "-o /tmp/graph.svg" in ran.err, "a picture in the project would stand in the way of the next run"


@pytest.mark.parametrize(("form", "begin"), [("mermaid", "flowchart"), ("dot", "digraph"), ("svg", "<svg")])
def test_other_formats_are_ready_to_be_piped(form: str, begin: str) -> None:
    ran = spawn("graph", "--format", form)
    assert ran.code == 0
    assert begin in ran.out[:400]
    assert "\x1b" not in ran.out


@pytest.mark.parametrize(
    ("name", "begin"), [("g.svg", "<svg"), ("g.dot", "digraph"), ("g.mmd", "flowchart"), ("g.txt", "1  ")]
)
def test_the_ending_of_the_file_decides_the_format(project: Path, name: str, begin: str) -> None:
    ran = aot("graph", "-o", name)
    assert (ran.code, ran.out) == (0, f"✔ wrote {name}\n")
    assert begin in (project / name).read_text(encoding="utf-8")[:400]


def test_a_picture_is_well_formed(project: Path) -> None:
    aot("graph", "-o", "g.svg")
    assert ET.parse(project / "g.svg").getroot().tag.endswith("svg")


def test_json_carries_the_drawing() -> None:
    ran = aot("graph", "--format", "dot", "--json")
    assert ran.json["format"] == "dot"
    assert "digraph" in ran.json["graph"]
    assert aot("graph", "-o", "g.svg", "--json").json == {"success": True, "format": "svg", "output": "g.svg"}


def test_ascii_is_ascii() -> None:
    assert aot("graph", "--ascii").out.isascii()
    assert not aot("graph").out.isascii()


def test_a_file_that_cannot_be_written_is_one_line() -> None:
    ran = aot("graph", "-o", "no/such/folder/g.svg")
    assert (ran.code, ran.err) == (1, "aot: no/such/folder/g.svg: No such file or directory\n")
    assert aot("graph", "-o", ".").code == 2


def test_a_file_gets_no_colours_even_from_a_terminal(project: Path) -> None:
    code, _ = on_terminal("graph", "-o", "g.txt")
    assert code == 0
    assert "\x1b" not in (project / "g.txt").read_text(encoding="utf-8")


def test_a_file_of_an_unknown_kind_is_refused(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    refused = aot("graph", "-o", "x.pdf")
    assert (refused.code, (project / "x.pdf").exists()) == (1, False)
    assert "no format has the ending .pdf" in refused.err


def test_json_has_nodes_and_edges(project: Path) -> None:
    write_loop(project, a_loop(atom("A1"), atom("A2", "A1")))
    found = aot("graph", "--json").json
    assert [node["id"] for node in found["nodes"]] == ["A1", "A2"]
    assert found["edges"] == [{"from": "A1", "to": "A2", "kind": "needs"}]
