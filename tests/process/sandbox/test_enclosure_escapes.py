"""Processes, terminals, sockets, keys, memory outside: each engine stops what the table says, and the docs say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.process.sandbox.thread_rules import has_scopes
from tests.agents.assignments import LINUX
from tests.process.sandbox.escapes import ALL, HOLDS, through
from tests.process.sandbox.worlds import engines

pytestmark = pytest.mark.skipif(not LINUX or not has_scopes(), reason="older kernels have no scopes of Landlock")
PAGE = Path(__file__).parents[3] / "docs" / "security.md"
NAMES = {"bubblewrap": "bwrap", "srt": "srt", "Landlock": "landlock"}


@pytest.mark.parametrize("engine", engines())
def test_each_engine_stops_what_the_table_says(engine: str) -> None:
    assert through(engine) == {name for name, held in HOLDS.items() if engine not in held}


def test_without_an_engine_all_of_it_gets_through() -> None:
    """So each attack works, and its refusal is the engine's doing."""
    found = through("off")
    assert set(HOLDS) - found <= {
        "an inherited descriptor",
        "the checkout, from a user namespace of its own",
        "a device of the kernel (disks, memory)",
        "type into your terminal (TIOCSTI)",
    }


def test_the_page_about_security_has_the_same_table() -> None:
    lines = PAGE.read_text().splitlines()
    head = next(line for line in lines if line.startswith("| an attempt tries to reach"))
    order = [NAMES[word.strip()] for word in head.strip("|").split("|")[1:]]
    assert set(order) == ALL
    rows = lines[lines.index(head) + 2 :][: len(HOLDS)]
    told = {cells[0]: cells[1:] for row in rows if (cells := [cell.strip() for cell in row.strip("|").split("|")])}
    assert told == {name: ["refused" if one in held else "**open**" for one in order] for name, held in HOLDS.items()}
