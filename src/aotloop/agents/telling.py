"""What a client does, in short lines for whoever watches; the end of that is kept, as an attempt's output."""

from __future__ import annotations

from collections.abc import Callable

from aotloop.agents.streams import Tail
from aotloop.agents.wording import one_line

_LONGEST_LINE = 500
_MOST_LINES = 40
"""Of one text: who writes a book is not quoted in full."""
_KEPT_BYTES = 8 * 1024


class Telling:
    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._on_output = on_output
        self._kept = Tail(_KEPT_BYTES)

    def tell(self, text: str) -> None:
        for line in text.splitlines()[:_MOST_LINES]:
            if words := one_line(line, _LONGEST_LINE):
                self._kept.add(f"{words}\n".encode())
                self._on_output(words)

    @property
    def text(self) -> str:
        return self._kept.text()
