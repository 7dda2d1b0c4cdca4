"""Keys in the live view: which atom is selected, which page is open, and what a key does. No I/O but by its actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from aotloop.cli.live.run_view import Picture
from aotloop.cli.live.styled_lines import Piece, cut, fitted, identified

HELP = """\
Keys
  ↑ ↓, k j       select an atom
  t, enter       open the transcript of its last attempt
  d              open what its last attempt changed
  p              pause the run, or end the pause
  s              stop the run (asks first)
  R              grant the selected atom new attempts
  r              redirect: set a constraint, such as max_parallel_agents=2
  f              fold what is resolved, or unfold it
  /              show only atoms with these letters
  q, escape      close the page, the filter or the question
  ?              this page
In a page: ↑ ↓, page up, page down. Ctrl-C stops `aot run`, and ends `aot watch`."""

HINT = "? help · ↑↓ select · t transcript · d diff · p pause · s stop"


class Actions(Protocol):
    def transcript(self, atom: str) -> list[str]: ...
    def diff(self, atom: str) -> list[str]: ...
    def stop(self) -> str: ...
    def pause(self, *, is_paused: bool) -> str: ...
    def retry(self, atom: str) -> str: ...
    def redirect(self, words: str) -> str: ...


class Navigation:
    def __init__(self, picture: Picture, actions: Actions) -> None:
        self._picture = picture
        self._actions = actions
        self._page: list[str] | None = None
        self._offset = 0
        self._asked: tuple[str, Callable[[str], str]] | None = None
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
            "s": lambda: self._ask("stop the run? (y/n) ", lambda said: self._actions.stop() if said == "y" else ""),
            "R": self._retry,
            "r": lambda: self._ask("redirect, name=value: ", self._actions.redirect),
            "f": self._fold,
            "/": lambda: self._ask("only atoms with: ", self._filter),
            "escape": lambda: self._say(self._filter("")),
            "q": lambda: self._say(self._filter("")),
            "?": self._help,
            "h": self._help,
        }

    def _type(self, key: str) -> None:
        question, answer = self._asked or ("", lambda _: "")
        if key == "escape":
            self._asked = None
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif key == "enter" or question.endswith("(y/n) "):
            self._asked = None
            self._say(answer(self._typed if key == "enter" else key))
        elif len(key) == 1:
            self._typed += key

    def _turn(self, key: str) -> None:
        steps = {"up": -1, "k": -1, "down": 1, "j": 1, "page up": -20, "page down": 20, " ": 20}
        if key in ("q", "escape"):
            self._page = None
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
        atom = self._picture.selected or next((one.atom for one in self._picture.running.values()), None)
        if atom is None:
            self._say("select an atom first: ↑ ↓")
        else:
            self._page, self._offset = page(atom), 0

    def _pause(self) -> None:
        self._say(self._actions.pause(is_paused=self._picture.is_paused))

    def _retry(self) -> None:
        atom = self._picture.selected
        self._say(self._actions.retry(atom) if atom is not None else "select an atom first: ↑ ↓")

    def _fold(self) -> None:
        self._picture.folds = not self._picture.folds

    def _filter(self, letters: str) -> str:
        self._picture.letters = letters.casefold()
        return ""

    def _help(self) -> None:
        self._page, self._offset = HELP.split("\n"), 0

    def _ask(self, question: str, answer: Callable[[str], str]) -> None:
        self._asked, self._typed = (question, answer), ""

    def _say(self, text: str) -> None:
        self._message = text

    # --- lines ---------------------------------------------------------------------------------------------------

    def page(self, width: int, height: int) -> list[list[Piece]] | None:
        """The open page; None: the picture is shown."""
        if self._page is None:
            return None
        room = max(height - 1, 1)
        self._offset = min(self._offset, max(len(self._page) - room, 0))
        shown = self._page[self._offset : self._offset + room]
        lines: list[list[Piece]] = [fitted([(cut(line.expandtabs(4), width), "")], width) for line in shown]
        left = len(self._page) - self._offset - len(shown)
        return [*lines, fitted([(f"q closes · ↑↓ page · {left:,} more lines", "dim")], width)]

    def foot(self, width: int) -> list[Piece]:
        if self._asked is not None:
            return fitted([(f"{self._asked[0]}{identified(self._typed)}▏", "bold")], width)
        if self._message:
            return fitted([(identified(self._message), "bold yellow")], width)
        only = f"only: {identified(self._picture.letters)} · " if self._picture.letters else ""
        return fitted([(f"{only}{HINT}", "dim")], width)
