"""While a process runs the loop, nobody else says what becomes of its atoms; to add some is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.terminal import aot
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop

BY_HAND = [
    ["atom", "start", "A1"],
    ["atom", "resolve", "A2", "--summary", "done"],
    ["atom", "fail", "A2", "--reason", "no"],
    ["atom", "decompose", "A1", "--child", "a", "--child", "b", "--reason", "large"],
    ["or", "select", "way", "B2", "--reason", "no"],
]


@pytest.fixture
def path(project: Path) -> Path:
    choices = (atom("B1", or_group="way"), atom("B2", or_group="way"))
    return write_loop(project, a_loop(atom("A1"), atom("A2", status="in_progress"), *choices))


@pytest.mark.parametrize("words", BY_HAND, ids=lambda words: " ".join(words[:2]))
def test_facts_are_left_to_whoever_runs_it(path: Path, words: list[str]) -> None:
    before = path.read_bytes()
    with held_by_another(path) as runner:
        ran = aot(*words, "--json")
        assert ran.code == 1
        assert ran.json["error"].startswith(f"process {runner.pid} runs this loop")
        assert "aot redirect" in ran.json["hint"]
        assert "aot stop" in ran.json["hint"]
        assert path.read_bytes() == before
    assert aot(*words).code == 0


def test_atoms_can_be_added_and_everything_can_be_seen(path: Path) -> None:
    with held_by_another(path):
        assert aot("atom", "add", "more").code == 0
        for words in (["atom", "list"], ["atom", "show", "A1"], ["status"], ["graph"], ["log"]):
            assert aot(*words).code == 0
