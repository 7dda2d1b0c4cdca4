"""Writes a picture for a terminal: no line is too wide, and there are no escape sequences unless requested."""

from __future__ import annotations

from collections import Counter

from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.style import Style

from aotloop.app.diagram.diagram import Card, Group, Picture
from aotloop.app.diagram.rows import ASCII_LINES, LINES, Row, outline
from aotloop.app.diagram.styles import STYLES

NARROWEST = 24
"""Below this width the text is not readable; a narrower terminal wraps the lines itself."""

Piece = tuple[str, str]
"""A text, and its style in the notation of rich."""


def text_of(picture: Picture, *, width: int, colour: bool, ascii_only: bool) -> str:
    return _Writer(picture, max(width, NARROWEST), colour=colour, ascii_only=ascii_only).text()


class _Writer:
    def __init__(self, picture: Picture, width: int, *, colour: bool, ascii_only: bool) -> None:
        self._picture = picture
        self._width = width
        self._colour = colour
        self._ascii = ascii_only
        self._ellipsis, self._arrow, self._pointer = ("~", "<-", ">") if ascii_only else ("…", "←", "▸")
        self._label = {card.id: self._own(card.label) for card in picture.cards}
        self._choices = {member for group in picture.groups for member in group.members}
        self._needs: dict[str, list[str]] = {}
        for edge in picture.edges:
            if edge.kind == "and":
                self._needs.setdefault(edge.target, []).append(self._label[edge.source])

    def text(self) -> str:
        rows = outline(self._picture, ASCII_LINES if self._ascii else LINES)
        if not rows:
            return "no atoms yet\n"
        self._margin = max(len(str(row.layer)) for row in rows if row.layer) + 2
        self._branch_limit = self._width // 3
        heads = [cell_len(self._plain(self._head(row))) for row in rows if isinstance(row.shown, Card)]
        # Descriptions begin in the same column, unless one id is so long that it would take too much room.
        self._column = min(max(heads), self._width * 2 // 5)
        lines = [self._line(row) for row in rows]
        return "\n".join([*lines, "", *self._legend()]) + "\n"

    # --- rows ----------------------------------------------------------------------------------------------

    def _line(self, row: Row) -> str:
        pieces = self._head(row)
        if isinstance(row.shown, Card):
            pieces += self._tail(row.shown, self._width - cell_len(self._plain(pieces)))
        return self._joined(pieces)

    def _head(self, row: Row) -> list[Piece]:
        margin = f"{row.layer or '':>{self._margin - 2}}  "
        branch = row.branch
        if len(branch) > self._branch_limit:
            branch = self._ellipsis + branch[-self._branch_limit :]
        pieces = [(margin, "dim"), (branch, "dim")]
        if isinstance(row.shown, Group):
            return [*pieces, (self._own(row.shown.label), "bold"), (self._manner(row.shown), "dim")]
        style = STYLES[row.shown.look]
        if row.shown.id in self._choices:
            pieces.append((f"{self._pointer if row.selected else ' '} ", "bold"))
        pieces.append((f"{style.plain if self._ascii else style.symbol} ", style.ansi))
        return [*pieces, (self._label[row.shown.id], "bold")]

    @staticmethod
    def _manner(group: Group) -> str:
        count = len(group.members)
        return f": all {count} tried at once" if group.speculative else f": one of {count}"

    def _tail(self, card: Card, room: int) -> list[Piece]:
        gap = max(self._column - (self._width - room), 0) + 2
        needs = self._dependencies(card.id, max(room - gap, 0) // 2)
        described = self._cut(self._own(card.description), room - gap - cell_len(needs))
        if not described:
            return [(needs, "dim")]
        style = "dim" if card.look == "unselected" or card.ghost else ""
        return [(" " * gap, ""), (described, style), (needs, "dim")]

    def _dependencies(self, card_id: str, room: int) -> str:
        """As many names as fit, then the number of the others; the first is always named."""
        needs = self._needs.get(card_id, [])
        for count in range(len(needs), 0, -1):
            rest = f" +{len(needs) - count}" if count < len(needs) else ""
            text = f"  {self._arrow} {', '.join(needs[:count])}{rest}"
            if cell_len(text) <= room:
                return text
        return f"  {self._arrow} {self._cut(needs[0], max(room - 8, 4))}" if needs else ""

    # --- legend --------------------------------------------------------------------------------------------

    def _legend(self) -> list[str]:
        counts = Counter[str]()
        for card in self._picture.cards:
            counts[card.look] += card.count
        lines: list[list[Piece]] = [[]]
        for look, style in STYLES.items():
            if not counts[look]:
                continue
            item = [
                (style.plain if self._ascii else style.symbol, style.ansi),
                (f" {counts[look]} {style.words}", ""),
            ]
            if lines[-1] and cell_len(self._plain([*lines[-1], ("   ", ""), *item])) > self._width:
                lines.append([])
            lines[-1] += [("   ", ""), *item] if lines[-1] else item
        return [self._joined(line) for line in lines]

    # --- letters -------------------------------------------------------------------------------------------

    def _own(self, text: str) -> str:
        """A person's text; in ASCII mode, other characters become escapes."""
        return text.encode("ascii", "backslashreplace").decode() if self._ascii else text

    def _cut(self, text: str, room: int) -> str:
        if cell_len(text) <= room:
            return text
        return set_cell_size(text, room - 1).rstrip() + self._ellipsis if room > 1 else ""

    def _joined(self, pieces: list[Piece]) -> str:
        """Cuts the line at the width, and removes blanks at the end, coloured or not."""
        shown: list[Piece] = []
        room = self._width
        for text, style in pieces:
            shown.append((self._cut(text, room), style))
            room -= cell_len(shown[-1][0])
        while shown and not shown[-1][0].strip():
            shown.pop()
        if shown:
            shown[-1] = shown[-1][0].rstrip(), shown[-1][1]
        return "".join(self._coloured(*piece) for piece in shown)

    def _coloured(self, text: str, style: str) -> str:
        if not (self._colour and style and text.strip()):
            return text
        return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)

    @staticmethod
    def _plain(pieces: list[Piece]) -> str:
        return "".join(text for text, _ in pieces)
