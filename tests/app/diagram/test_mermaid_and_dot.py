"""Mermaid and DOT, for other programs to lay out: what a person wrote never leaves its quotes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from aotloop.app.diagram import draw
from aotloop.core.model import Loop, OrGroup
from tests.app.diagram.loops import HOSTILE, any_loops, atom, loop_of, sign_in, unhurried

MERMAID_LABEL = re.compile(r'\["[^"]*"\]')
MERMAID_LINE = re.compile(
    r"""flowchart\ TD
      | \ \ subgraph\ g\d+LABEL | \ \ end
      | \ \ (\ \ )?n\d+LABEL
      | \ \ n\d+\ (-->|-\.->)\ n\d+
      | \ \ classDef\ c_[a-z_]+\ [a-z:\#0-9, -]+
      | \ \ class\ n\d+(,n\d+)*\ c_[a-z_]+""",
    re.VERBOSE,
)
MERMAID_TEXT = re.compile(r"(#\d+;|[\w ,✔●○◌◇✘·—]|<br/>|(?<=\w)[-.](?=\w))*")
DOT_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
DOT_LINE = re.compile(
    r"""digraph\ loop\ \{ | \ +\} | \}
      | \ +[a-z]+=[A-Za-z0-9.]+;(\ [a-z]+=[A-Za-z0-9.]+;)*
      | \ +(node|edge)\ \[.*\];
      | \ +subgraph\ cluster_\d+\ \{
      | \ +(n\d+\ )?\[?([a-z]+=[A-Za-z0-9.]+[,;]?\ ?)+\]?;?
      | \ +n\d+\ ->\ n\d+(\ \[style=dashed\])?;""",
    re.VERBOSE,
)


def test_mermaid_is_a_flowchart_with_a_subgraph_per_group() -> None:
    drawn = draw(sign_in(), "mermaid").splitlines()
    assert drawn[:5] == [
        "flowchart TD",
        '  subgraph g0["token_method — one of"]',
        '    n3["● A4 — selected<br/>Issue signed tokens"]',
        '    n4["· A4_alt<br/>Keep sessions in the database"]',
        "  end",
    ]
    assert "  n0 --> n1" in drawn
    assert "  n1 -.-> n2" in drawn
    assert "  class n0,n2 c_resolved" in drawn


def test_dot_is_a_digraph_with_a_cluster_per_group() -> None:
    drawn = draw(sign_in(), "dot").splitlines()
    assert drawn[0] == "digraph loop {"
    assert "  subgraph cluster_0 {" in drawn
    assert any('label="token_method — one of"' in line for line in drawn)
    assert "  n0 -> n1;" in drawn
    assert "  n1 -> n2 [style=dashed];" in drawn
    assert drawn[-1] == "}"


def test_mermaid_carries_what_it_gives_meaning_to_as_entity_codes() -> None:
    drawn = draw(loop_of([atom('"]', description="1. a-b `c` d_e")]), "mermaid")
    assert '  n0["○ #34;#93;<br/>1#46; a-b #96;c#96; d_e"]' in drawn.splitlines()


def test_dot_escapes_quotes_backslashes_and_entities() -> None:
    drawn = draw(loop_of([atom('a"\\N', description="&lt;")]), "dot")
    assert r'label="○ a\"\\N\n&amp;lt;"' in drawn


def test_a_speculative_group_says_so() -> None:
    loop = loop_of([atom("A1")], (), {"g": OrGroup(choices=("A1",), selected="A1", speculative=True)})
    assert "g — all tried at once" in draw(loop, "mermaid")
    assert "g — all tried at once" in draw(loop, "dot")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_stay_within_their_quotes(text: str) -> None:
    loop = loop_of([atom(text, text, description=text)], (), {text: OrGroup(choices=(text,), selected=text)})
    _check_mermaid(draw(loop, "mermaid"))
    _check_dot(draw(loop, "dot"))


@unhurried
@given(any_loops())
def test_outside_of_labels_mermaid_holds_known_words_only(loop: Loop) -> None:
    _check_mermaid(draw(loop, "mermaid"))


@unhurried
@given(any_loops())
def test_outside_of_strings_dot_holds_known_words_only(loop: Loop) -> None:
    _check_dot(draw(loop, "dot"))


@unhurried
@given(any_loops(hostile=False))
def test_every_id_appears_in_both(loop: Loop) -> None:
    for drawn in (draw(loop, "mermaid"), draw(loop, "dot")):
        assert {one.id for one in loop.atoms} <= set(re.findall(r"\w+", drawn))


def _check_mermaid(drawn: str) -> None:
    for line in drawn.splitlines():
        assert MERMAID_LINE.fullmatch(MERMAID_LABEL.sub("LABEL", line)), line
        assert all(MERMAID_TEXT.fullmatch(label[2:-2]) for label in MERMAID_LABEL.findall(line)), line


def _check_dot(drawn: str) -> None:
    for line in drawn.splitlines():
        assert DOT_LINE.fullmatch(DOT_STRING.sub("STRING", line)), line
    structure = DOT_STRING.sub("STRING", drawn)
    assert structure.count("{") == structure.count("}")
