"""What a person types at the end of `aot align`."""

from __future__ import annotations

AGREE, EDIT, CHANGE, LEAVE = "a", "e", "c", "q"
LETTER = "Letter: "
