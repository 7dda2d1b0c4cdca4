"""A person at the terminal of `aot align`: waits for each question, and answers it."""

from __future__ import annotations

from tests.cli.terminal import PATIENCE, Terminal

AGREE, EDIT, CHANGE, LEAVE = "a", "e", "c", "q"
LETTER = "Letter: "

OF_CLIENTS = 120.0
"""Seconds. Some take long to start where others work, too."""


def answer(screen: Terminal, *pairs: tuple[str, str], patience: float = PATIENCE) -> str:
    """All that was shown; each question only after the answer to the last."""
    shown = ""
    for question, text in pairs:
        screen.wait_for(question, patience)
        shown += screen.text
        screen.shown = ""
        screen.type(f"{text}\n")
    return shown
