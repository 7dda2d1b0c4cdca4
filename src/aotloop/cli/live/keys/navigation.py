"""Keys in the live view: which atom is selected, which page is open, and what a key does. No I/O but by its actions."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol

import msgspec
from rich.cells import cell_len, chop_cells

from aotloop.cli.live.picture.styled_lines import Piece, cut, fitted, identified
from aotloop.cli.live.run_view import Picture
from aotloop.cli.redirect.correction_line import BEGINNINGS

HELP = """\
Keys
  ↑ ↓, k j       select an atom
  t, enter       open the transcript of its last attempt
  d              open what its last attempt changed
  p              pause the run, or end the pause
  s              stop the run (asks first)
  R              grant the selected atom new attempts
  r              redirect: choose a correction, or type a line with the flags of `aot redirect`
  f              fold what is resolved, or unfold it
  /              show only atoms with these letters
  q, escape      close the page, the filter or the question
  ?              this page
In a page: ↑ ↓, page up, page down. Ctrl-C stops `aot run`, and ends `aot watch`."""

HINTS = ("? help", "↑↓ select", "t transcript", "d diff", "p pause", "s stop")
_HANGING = 17
"""Columns of the names of keys."""


class Planned(msgspec.Struct, frozen=True):
    """A correction that was understood. `apply` None: it cannot be made, and `message` says why."""

    message: str
    apply: Callable[[], str] | None = None


class Question(msgspec.Struct, frozen=True):
    text: str
    answer: Callable[[str], str]
    is_choice: bool = False
    """One key is the answer."""


class Actions(Protocol):
    def transcript(self, atom: str) -> list[str]: ...
    def diff(self, atom: str) -> list[str]: ...
    def stop(self) -> str: ...
    def pause(self, *, is_paused: bool) -> str: ...
    def retry(self, atom: str) -> str: ...
    def redirect(self, line: str) -> Planned: ...


class Navigation:
    def __init__(self, picture: Picture, actions: Actions) -> None:
        self._picture = picture
        self._actions = actions
        self._page: list[str] | None = None
        self._folds: dict[int, list[str]] = {}
        """The open page as lines of one width: it may be long, and every picture shows a part of it."""
        self._offset = 0
        self._asked: Question | None = None
        self._page_keys: dict[str, Callable[[], None]] = {}
        """Keys of the open page alone."""
        self._typed = ""
        self._message = ""

    # --- keys ----------------------------------------------------------------------------------------------------

    def press(self, key: str) -> None:
        self._message = ""
        if self._asked is not None:
            self._type(key)
        elif self._page is not None:
            self._turn(key)
        elif (act := self._keys().get(key)) is not None:
            act()

    def _keys(self) -> dict[str, Callable[[], None]]:
        return {
            "up": lambda: self._select(-1),
            "k": lambda: self._select(-1),
            "down": lambda: self._select(1),
            "j": lambda: self._select(1),
            "t": lambda: self._open(self._actions.transcript),
            "enter": lambda: self._open(self._actions.transcript),
            "d": lambda: self._open(self._actions.diff),
            "p": self._pause,
            "s": lambda: self._confirm("stop the run? (y/n) ", self._actions.stop),
            "R": self._retry,
            "r": self._offer_corrections,
            "f": self._fold,
            "/": lambda: self._ask("only atoms with: ", self._filter),
            "escape": lambda: self._say(self._filter("")),
            "q": lambda: self._say(self._filter("")),
            "?": self._help,
            "h": self._help,
        }

    def _type(self, key: str) -> None:
        question = self._asked
        if key == "escape" or question is None:
            self._asked = None
        elif question.is_choice or key == "enter":
            self._asked = None
            self._say(question.answer(key if question.is_choice else self._typed))
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif len(key) == 1:
            self._typed += key

    def _turn(self, key: str) -> None:
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -20, "page down": 20, " ": 20}
        if (act := self._page_keys.get(key)) is not None:
            self._page, self._page_keys = None, {}
            act()
        elif key in ("q", "escape", "?"):
            self._page, self._page_keys = None, {}
        else:
            self._offset = max(self._offset + steps.get(key, 0), 0)

    # --- what they do --------------------------------------------------------------------------------------------

    def _select(self, step: int) -> None:
        atoms = self._picture.choosable()
        if not atoms:
            return
        selected = self._picture.selected
        place = atoms.index(selected) + step if selected in atoms else (0 if step > 0 else len(atoms) - 1)
        self._picture.selected = atoms[min(max(place, 0), len(atoms) - 1)]

    def _open(self, page: Callable[[str], list[str]]) -> None:
        atom = self._picture.selected or next((running.atom for running in self._picture.running.values()), None)
        if atom is None:
            self._say("select an atom first: ↑ ↓")
        else:
            self._turn_to(page(atom))

    def _pause(self) -> None:
        self._say(self._actions.pause(is_paused=self._picture.is_paused))

    def _retry(self) -> None:
        atom = self._picture.selected
        self._say(self._actions.retry(atom) if atom is not None else "select an atom first: ↑ ↓")

    def _offer_corrections(self) -> None:
        atom = self._picture.selected
        about = f"; {identified(atom)} is selected" if atom is not None else ""
        lines = [f"What should change? Press its key, complete the line, and press enter{about}.", ""]
        lines += [f"  {beginning.key}  {beginning.label}" for beginning in BEGINNINGS]
        self._turn_to([*lines, "  r  another line: NAME=VALUE, or flags of `aot redirect`"])
        self._page_keys = {
            beginning.key: partial(self._ask_for_line, beginning.typed(atom)) for beginning in BEGINNINGS
        }
        self._page_keys["r"] = partial(self._ask_for_line, "")

    def _ask_for_line(self, typed: str) -> None:
        self._ask("redirect: ", self._correct, typed)

    def _correct(self, line: str) -> str:
        """A constraint is set at once; any other correction is shown first, and then applied."""
        if not line.strip():
            return ""
        planned = self._actions.redirect(line)
        if planned.apply is None:
            return planned.message
        if not line.lstrip().startswith("-"):
            return planned.apply()
        self._confirm(f"apply this? (y/n) {planned.message} ", planned.apply)
        return ""

    def _fold(self) -> None:
        self._picture.folds = not self._picture.folds

    def _filter(self, letters: str) -> str:
        self._picture.letters = letters.casefold()
        return ""

    def _help(self) -> None:
        self._turn_to(HELP.split("\n"))

    def _turn_to(self, page: list[str]) -> None:
        self._page, self._offset, self._folds = page, 0, {}

    def _ask(self, text: str, answer: Callable[[str], str], typed: str = "") -> None:
        self._asked, self._typed = Question(text, answer), typed

    def _confirm(self, text: str, act: Callable[[], str]) -> None:
        self._asked = Question(text, lambda key: act() if key == "y" else "nothing was changed", is_choice=True)
        self._typed = ""

    def _say(self, text: str) -> None:
        self._message = text

    # --- lines ---------------------------------------------------------------------------------------------------

    def page(self, width: int, height: int) -> list[list[Piece]] | None:
        """The open page; None: the picture is shown."""
        if self._page is None:
            return None
        room = max(height - 1, 1)
        if width not in self._folds:
            self._folds = {width: [part for line in self._page for part in _folded(line.expandtabs(4), width)]}
        page = self._folds[width]
        self._offset = min(self._offset, max(len(page) - room, 0))
        shown = page[self._offset : self._offset + room]
        lines: list[list[Piece]] = [fitted([(cut(line, width), "")], width) for line in shown]
        left = len(page) - self._offset - len(shown)
        return [*lines, fitted([(f"q closes · ↑↓ page · {left:,} more lines", "dim")], width)]

    def foot(self, width: int) -> list[Piece]:
        if self._asked is not None:
            line = f"{identified(self._asked.text)}{identified(self._typed)}▏"
            return fitted([(line if len(line) <= width else f"…{line[1 - width :]}", "bold")], width)
        if self._message:
            return fitted([(identified(self._message), "bold yellow")], width)
        only = f"only: {identified(self._picture.letters)} · " if self._picture.letters else ""
        return fitted([(f"{only}{_as_many_as_fit(HINTS, width - len(only))}", "dim")], width)


def _folded(line: str, width: int) -> list[str]:
    """Nothing of a line is lost on a narrow terminal."""
    columns = cell_len(line)
    if columns <= width:
        return [line]
    if columns != len(line):  # scripts with wide characters have no blanks between words
        return chop_cells(line, max(width, 2))
    indent = _HANGING if line[:2] == "  " and width > 2 * _HANGING else 0
    return textwrap.wrap(line, max(width, 1), subsequent_indent=" " * indent, replace_whitespace=False) or [""]


def _as_many_as_fit(hints: Iterable[str], width: int) -> str:
    told = ""
    for hint in hints:
        longer = f"{told} · {hint}" if told else hint
        if len(longer) > width:
            break
        told = longer
    return told
