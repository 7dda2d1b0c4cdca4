"""A person at the terminal of `aot align`: waits for each question, and answers it."""

from __future__ import annotations

from tests.cli.terminal import Terminal

AGREE, EDIT, CHANGE, LEAVE = "a", "e", "c", "q"
LETTER = "Letter: "


def answer(screen: Terminal, *pairs: tuple[str, str]) -> str:
    """All that was shown; each question only after the answer to the last."""
    shown = ""
    for question, text in pairs:
        screen.wait_for_prompt(question)
        shown += screen.text
        screen.shown = ""
        screen.type(f"{text}\n")
    return shown
