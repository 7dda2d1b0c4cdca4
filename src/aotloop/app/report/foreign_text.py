"""The only way of foreign text into a report: made plain, freed of secrets, cut, and only then written as HTML.

`Room` keeps a report below its size: what does not fit is left out, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from html import escape

from aotloop.text.sanitize import plain, prose
from aotloop.text.secrets import Secrets
from aotloop.text.shorten import shorten

LINE = 400
BLOCK = 20_000
"""Characters."""
_REFERENCES = re.compile(r"(@|#|<(?=!)|\bGH-|:(?=//)|\bwww)(?=\S)", re.IGNORECASE)
_JOINER = "\u2060"
"""Invisible: it keeps a service from finding an account, an issue or a link in the text."""
READ = 4
"""So many times the shown length is read: secrets and escapes are removed before the text is cut."""


class ForeignText:
    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    def shown_line(self, text: str, most: int = LINE) -> str:
        """On one line, not yet as HTML."""
        return shorten(self._secrets.hidden(prose(text[: READ * most + 1000])), most)

    def shown_block(self, text: str, most: int = BLOCK) -> str:
        """With its lines, not yet as HTML."""
        return shorten(self._secrets.hidden(plain(text[: READ * most + 1000])), most)

    def line(self, text: str, most: int = LINE) -> str:
        return escape(self.shown_line(text, most))

    def block(self, text: str, most: int = BLOCK) -> str:
        return escape(self.shown_block(text, most))


def unlinked(text: str) -> str:
    """For services that make links and mentions out of text: they find none in this."""
    return _REFERENCES.sub(rf"\1{_JOINER}", text)


class Room:
    """Bytes that are left."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._left_out: Counter[str] = Counter()

    def take(self, text: str, what: str) -> str:
        """The text, or nothing if it does not fit. `what` in the plural, for a person."""
        size = len(text.encode("utf-8", "replace"))
        if size > self._left:
            self._left_out[what] += 1
            return ""
        self._left -= size
        return text

    def skip(self, what: str, count: int = 1) -> None:
        if count > 0:
            self._left_out[what] += count

    @property
    def is_full(self) -> bool:
        return self._left < 1000

    @property
    def left_out(self) -> dict[str, int]:
        return dict(self._left_out)
