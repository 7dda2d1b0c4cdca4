"""A block remembers the text of what has not changed; whatever is done to it, its text is that of its pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aotloop.statefile.yaml.pieces import Block, Piece


def a_block(entries: int) -> Block:
    return Block("list", 0, b"# head\n", [Piece(str(one), b"- %d\n" % one, b"# %d\n" % one) for one in range(entries)])


def fresh_text(block: Block) -> bytes:
    return block.head + b"".join(piece.lines + piece.gap for piece in block.pieces)


@given(st.integers(0, 50), st.data())
def test_the_text_of_a_block_is_always_that_of_its_pieces(entries: int, data: st.DataObject) -> None:
    block = a_block(entries)
    for step in range(data.draw(st.integers(1, 12))):
        numbers = range(len(block.pieces))
        match data.draw(st.sampled_from(["put", "append", "arrange", "read"])):
            case "put" if numbers:
                block.put(data.draw(st.sampled_from(numbers)), b"- step %d\n" % step)
            case "append":
                block.append(f"new {step}")
                block.put(len(numbers), b"- new %d\n" % step)
            case "arrange":
                order: list[int | None] = [*data.draw(st.permutations(numbers)), None]
                kept = order[data.draw(st.integers(0, 3)) :]
                block.arrange(kept, [str(one) for one in kept])
        assert block.text() == fresh_text(block)


def test_a_new_entry_stands_before_the_comment_that_ends_the_block() -> None:
    for entries in range(1, 40):
        block = a_block(entries)
        block.text()
        block.append("new")
        block.put(entries, b"- new\n")
        assert block.text() == fresh_text(block)
        assert block.text().endswith(b"- %d\n- new\n# %d\n" % (entries - 1, entries - 1))
