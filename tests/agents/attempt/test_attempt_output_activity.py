"""Who watches gets short plain lines."""

from __future__ import annotations

from aotloop.agents.attempt.attempt_output import Telling


def told(*texts: str) -> tuple[list[str], str]:
    lines: list[str] = []
    telling = Telling(lines.append)
    for text in texts:
        telling.tell(text)
    return lines, telling.text


def test_lines_are_plain_and_none_is_blank() -> None:
    assert told("\x1b[31mred\x1b[0m\n\n  two  words ", "") == (["red", "two words"], "red\ntwo words\n")


def test_long_lines_and_long_texts_are_cut() -> None:
    lines, text = told("x" * 9000, "y\n" * 9000)
    assert len(lines[0]) == 500
    assert len(lines) == 41
    assert len(text) < 9000
