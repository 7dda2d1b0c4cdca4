"""Nothing is accepted that was not read back: all revised entries in one parse, and none can make up for another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import Atom, Binding, Loop
from aotloop.statefile.document import Document
from aotloop.statefile.reader import decode, read_value
from aotloop.statefile.yaml import entries, fast_reader, nodes
from aotloop.statefile.yaml.pieces import Block, Piece
from aotloop.statefile.yaml.readback import Written, reads_as_meant
from tests.loops import a_loop, as_file, atom

FILE = """\
---
objective:
  goal: g
  base_case: {type: file, value: done}
  background_intent: b
  deliverables: d
  definition_of_done: d
control:
  status: running
  iteration: 1   # counted
  stall_count: 0
  prev_pending_count: 3
  stop_requested: false
  redirect_requested: false
  colour: blue
atoms:
  # one
  - id: A1
    description: first
    status: in_progress
    depends_on: []
    run: true
  - id: A2
    description: a text
      of two lines
    status: pending   # not yet
    depends_on: [A1]
    run: false
  - id: A3
    description: "says
      status: pending
      to everybody"
    status: pending

    # its needs
    depends_on: [A2]
bindings:
  A0: {summary: s, artifacts: []}
trail: []
corrections: []
---
"""


def step(loop: Loop) -> None:
    """What a run changes at once: one is done, another one begins."""
    loop.control = replace(loop.control, iteration=loop.control.iteration + 1, prev_pending_count=2)
    loop.atoms[0] = replace(loop.atoms[0], status="resolved")
    loop.atoms[1] = replace(loop.atoms[1], status="in_progress")
    loop.bindings["A1"] = Binding(summary="did it")


def revised(document: Document, change: Callable[[Loop], None] = step) -> str:
    loop = document.loop()
    change(loop)
    data = document.revise(loop)
    assert decode(data) == loop == document.loop()
    return data.decode()


def opened(text: str = FILE) -> Document:
    """A document that is past its first revisions, which read more than they write."""
    document = Document(text.encode())
    revised(document, lambda loop: setattr(loop, "control", replace(loop.control, stall_count=1)))
    revised(document, lambda loop: loop.bindings.update(A0=Binding(summary="s1")))
    return document


def written(*pieces: bytes, expected: list[Atom]) -> Written:
    named = [Piece(str(number), lines) for number, lines in enumerate(pieces)]
    return Written("atoms", b"atoms:\n", Block("list", 2, b"", named), expected)


ONE, TWO = (
    f"  - {{id: A{number}, description: A{number}, status: pending, depends_on: []}}\n".encode() for number in (1, 2)
)
BOTH = [atom("A1", description="A1"), atom("A2", description="A2")]


def test_entries_that_read_as_meant_are_accepted() -> None:
    assert reads_as_meant([written(ONE, TWO, expected=BOTH)], 0)


@pytest.mark.parametrize(
    "pieces",
    [
        (ONE + TWO, b""),
        (b"", ONE + TWO),
        (ONE + TWO, b"  # nothing\n"),
        (TWO, ONE),
        (ONE, ONE),
        (ONE, b""),
        (ONE + b"  - 1\n" + TWO, b""),
    ],
    ids=[
        "first has both",
        "second has both",
        "a comment is no entry",
        "swapped",
        "the same twice",
        "one is missing",
        "one in between",
    ],
)
def test_an_entry_cannot_make_up_for_another(pieces: tuple[bytes, bytes]) -> None:
    together = read_value(b"".join(pieces), list[Atom])
    assert not reads_as_meant([written(*pieces, expected=BOTH)], 0), together


@pytest.mark.parametrize(
    "lines",
    [
        b"  - id: A1\n    description: A1\n    status: pending\n    status: pending\n    depends_on: []\n",
        b'  - id: A1\n    description: "A1\n    status: pending\n    depends_on: []\n',
        b"  - id: A1\n    description: A1\n    status: resolved\n    depends_on: []\n",
        b"  - id: A1\n    description: A1\n    status: pending\n    depends_on: []\ntrail: []\n",
        b"- id: A1\n  description: A1\n  status: pending\n  depends_on: []\n",
        b'  - "aot:cut0"\n' + ONE,
        b'  - "aot:cut1"\n',
    ],
    ids=["a key twice", "an open quote", "another status", "out of its section", "further left", "marker", "only that"],
)
def test_an_entry_that_reads_otherwise_is_not_accepted(lines: bytes) -> None:
    assert not reads_as_meant([written(lines, expected=BOTH[:1])], 0)
    assert not reads_as_meant([written(lines, TWO, expected=BOTH)], 0)


def test_a_whole_update_is_read_back_in_one_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    document, parsed, to_json = opened(), list[bytes](), fast_reader.to_json

    def noted(yaml: bytes) -> fast_reader.Json | None:
        parsed.append(yaml)
        return to_json(yaml)

    monkeypatch.setattr(fast_reader, "to_json", noted)
    monkeypatch.setattr(nodes, "compose", _not_called)
    loop = document.loop()
    step(loop)
    document.revise(loop)
    (read,) = parsed
    assert all(name in read for name in (b"control:", b"id: A1", b"id: A2", b"did it"))
    assert b"id: A3" not in read, "only what was revised"


def _not_called(*_: object) -> Any:
    raise AssertionError("it takes no careful reader")


@pytest.mark.parametrize("word", ["true", "false"])
@pytest.mark.parametrize("key", ["run: {}", "check: {{type: command, value: {}}}"])
def test_a_command_that_is_called_as_a_truth_value_is_read_fast(key: str, word: str) -> None:
    lines = f"- id: A\n  description: d\n  status: pending\n  depends_on: []\n  {key.format(word)}\n"
    read = fast_reader.read(lines.encode(), list[Atom])
    assert read is not None
    assert word in (read[0].run, read[0].check.value if read[0].check is not None else None)
    quoted = lines.replace(f" {word}", f' "{word}"')
    assert read == fast_reader.read(quoted.encode(), list[Atom])


def test_only_the_plain_words_are_such_commands() -> None:
    lines = (
        b'- id: A\n  description: "\\"run\\": true"\n  status: pending\n  depends_on: []\n  run: true\n  probe: true\n'
    )
    (read,) = fast_reader.read(lines, list[Atom]) or []
    assert (read.description, read.run, read.probe) == ('"run": true', "true", True)


def test_a_step_changes_its_lines_and_no_others() -> None:
    document = opened()
    before = revised(document, lambda _: None)
    expected = before
    for old, new in (
        ("iteration: 1 ", "iteration: 2 "),
        ("prev_pending_count: 3", "prev_pending_count: 2"),
        ("in_progress", "resolved"),
        ("pending   # not yet", "in_progress   # not yet"),
        ("trail: []", '  A1:\n    summary: "did it"\n    artifacts: []\ntrail: []'),
    ):
        assert before.count(old) == 1
        expected = expected.replace(old, new)
    assert revised(document) == expected


def test_a_line_that_only_looks_like_a_key_is_left_alone() -> None:
    def start(loop: Loop) -> None:
        loop.atoms[2] = replace(loop.atoms[2], status="in_progress")

    after = revised(opened(), start)
    assert "      status: pending\n      to everybody" in after
    assert "    status: in_progress\n\n    # its needs\n" in after


def test_a_text_of_several_lines_is_replaced_whole_and_alone() -> None:
    def shorten(loop: Loop) -> None:
        loop.atoms[1] = replace(loop.atoms[1], description="short")

    document = opened()
    before = revised(document, lambda _: None)
    assert revised(document, shorten) == before.replace("a text\n      of two lines", "short")


def test_every_step_of_a_long_chain_is_in_the_file() -> None:
    loop = a_loop(*(atom(f"A{number}") for number in range(40)), bindings={"A0": Binding(summary="s")})
    document = opened(as_file(loop).decode())
    for number in range(40):
        name = f"A{number}"

        def resolve(loop: Loop, number: int = number, name: str = name) -> None:
            loop.atoms[number] = replace(loop.atoms[number], status="resolved")
            loop.bindings[name] = Binding(summary=f"did {name}")

        revised(document, resolve)


# --- planted faults: what comes of them still reads as the loop it was made for -----------------------------------


def _stale(lines: bytes, *_: object) -> bytes:
    return lines


def _torn(lines: bytes, *_: object) -> bytes:
    return lines[:-9] + b"\n"


def _greedy(lines: bytes, *_: object) -> bytes:
    return lines + lines.replace(b"A1", b"A9")


@pytest.mark.parametrize("fault", [_stale, _torn, _greedy])
def test_a_fault_in_revising_entries_is_caught(fault: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    document = opened()
    monkeypatch.setattr(entries, "revised_item", fault)
    revised(document)
    revised(document, lambda loop: loop.atoms.append(atom("A4")))


def test_entries_that_hold_what_belongs_to_others_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joined, they say what they should; in the file, another entry stands between them."""
    loop = a_loop(*(atom(f"A{number}") for number in range(1, 4)))
    document = opened(as_file(loop).decode())
    revise, taken = entries.revised_item, list[bytes]()

    def shifted(lines: bytes, old: Atom, new: Atom, indent: int) -> bytes:
        taken.append(revise(lines, old, new, indent))
        return b"" if new.id == "A1" else b"".join(taken)

    def change(loop: Loop) -> None:
        for number in (0, 2):
            loop.atoms[number] = replace(loop.atoms[number], status="resolved")

    monkeypatch.setattr(entries, "revised_item", shifted)
    revised(document, change)


@pytest.mark.parametrize("fault", [lambda *_: None, lambda block, *_: block.put(1, b"  iteration: {\n")])
def test_a_fault_in_revising_control_is_caught_and_unknown_keys_are_kept(
    fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    document = opened()
    monkeypatch.setattr(entries, "revise_mapping", fault)
    assert "colour: blue" in revised(document)
