"""A file in an unusual style is read as a whole once; after that, an update reads only what it concerns."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from aotloop.core.model import Binding, Loop
from aotloop.statefile.document import Document
from aotloop.statefile.reader import decode
from aotloop.statefile.yaml import nodes

HEAD = """\
---
templates:
  check: &tests {type: command, value: "make test"}
objective:
  goal: g
  base_case: {type: file, value: done}
  background_intent: b
  deliverables: d
  definition_of_done: d
control:
  status: running
  iteration: 1
  stall_count: 0
  prev_pending_count: 3
  stop_requested: false
  redirect_requested: false
atoms:
"""
TAIL = "bindings:\n  A0: {summary: s}\ntrail: []\ncorrections: []\n---\n"

ALIASES = "".join(
    f"  - id: A{number}\n    description: d\n    status: pending\n    depends_on: &d{number} []\n    check: *tests\n"
    for number in range(40)
)
MERGED = "  - &a0 {id: A0, description: d, status: pending, depends_on: []}\n" + "".join(
    f"  - &a{number}\n    <<: *a0\n    id: A{number}\n    status: pending\n" for number in range(1, 40)
)
FLOW = "".join(
    f'  - id: A{number}   # a comment\n    # and another: "here"\n    description: d\n    status: pending\n'
    "    depends_on: [\n      # none\n    ]\n"
    for number in range(40)
)


def composed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of all text that the careful reader reads."""
    lengths, compose = list[int](), nodes.compose

    def noted(data: bytes, first_line: int) -> object:
        lengths.append(len(data))
        return compose(data, first_line)

    monkeypatch.setattr(nodes, "compose", noted)
    return lengths


@pytest.mark.parametrize("atoms", [ALIASES, MERGED, FLOW], ids=["aliases", "merged", "flow over lines"])
def test_an_update_reads_only_what_it_concerns(atoms: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (HEAD + atoms + TAIL).encode()
    document = Document(data)
    for number in (39, 38):  # the first opens the sections that change, the second all of them
        step(document, number)
    lengths = composed(monkeypatch)
    for number in range(37, 20, -1):
        written = step(document, number)
    assert sum(lengths) < 17 * len(data) / 4
    assert document.is_unusual
    assert decode(written) == document.loop()


def step(document: Document, number: int) -> bytes:
    loop = document.loop()
    loop.atoms[number] = replace(loop.atoms[number], status="resolved")
    loop.bindings[f"A{number}"] = Binding(summary=f"did {number}")
    return document.revise(loop)


def test_who_merges_an_entry_keeps_its_own_values_when_that_entry_changes() -> None:
    atoms = "  - &a {id: A0, description: d, status: pending, depends_on: []}\n  - {<<: *a, id: A1}\n"
    document = Document((HEAD + atoms + TAIL).encode())
    loop = document.loop()
    loop.atoms[0] = replace(loop.atoms[0], status="resolved")
    written = decode(document.revise(loop))
    assert [one.status for one in written.atoms] == ["resolved", "pending"]


def test_an_anchor_that_is_still_named_is_not_lost() -> None:
    atoms = (
        "  - id: A0\n    description: d\n    status: pending\n    depends_on: []\n    touches: &t [src]\n"
        "  - id: A1\n    description: d\n    status: pending\n    depends_on: []\n    touches: *t\n"
    )
    document = Document((HEAD + atoms + TAIL).encode())

    def keep_the_second(loop: Loop) -> None:
        loop.atoms = loop.atoms[1:]

    loop = document.loop()
    keep_the_second(loop)
    assert decode(document.revise(loop)).atoms == loop.atoms
