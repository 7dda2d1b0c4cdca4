"""Growth: a large text or loop takes no more time for each of its parts than a small one."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from aotloop.agents.answers.extraction import NotAResult, find_answer
from aotloop.app.diagram import draw as drawn
from aotloop.cli.live.picture.frame import draw as frame
from aotloop.cli.live.run_view import Picture
from aotloop.cli.ui.output import wrapped
from aotloop.execution.judges.judgement import places_in
from aotloop.statefile.yaml import fast_reader
from aotloop.text.patterns import matching
from bench.events import layered
from bench.measure import Row, in_turn

ROUNDS = 5
HARD_TEXTS = {"strings without end": '{"a" "b', "escaped quotes": '{"\\"', "broken answers": '{"success":true,'}


def rows() -> Iterator[Row]:
    for name, text in HARD_TEXTS.items():
        yield _growth(f"an answer among {name}", partial(_answer, text), 2_000, 32_000)
    with tempfile.TemporaryDirectory() as folder:
        yield _growth("places in a text of colons", partial(_places, Path(folder)), 1_000, 16_000)
    yield _growth("a description of signs, read", _signs, 1_000, 32_000)
    yield _growth("words on one endless line", _words, 10_000, 320_000)
    yield _growth("a path against a hostile pattern", _globs, 4, 16)
    yield _growth("a drawing (svg) of atoms", _svg, 75, 300)
    yield _growth("the first frame of atoms", _first_frame, 1_000, 10_000)


def _growth(name: str, work: Callable[[int], object], small: int, large: int) -> Row:
    """Of each part: how much longer it takes among many than among few."""
    best = in_turn({"small": partial(work, small), "large": partial(work, large)}, ROUNDS)
    each = {"small": best["small"] / small, "large": best["large"] / large}
    return Row(f"{name}: one of {large:,} / of {small:,}", each["large"], each["small"], "goal: at most 4", "other")


def _answer(text: str, size: int) -> None:
    with contextlib.suppress(NotAResult):
        find_answer("worker", text * size)


def _places(root: Path, size: int) -> None:
    places_in("a :1 " * size, {"a"}, root)


def _signs(size: int) -> None:
    fast_reader.read(b'a: "' + b"x -> ** `a`: NULL " * size + b'"\n', dict)


def _words(size: int) -> None:
    wrapped("word " * size, sys.maxsize)


def _globs(size: int) -> None:
    matching(["a/" * (10 * size) + "b"], ["**/a/" * (3 * size) + "c", "*a" * (7 * size) + "b"])


def _svg(size: int) -> None:
    drawn(layered(size), "svg")


def _first_frame(size: int) -> None:
    frame(Picture(layered(size)), 120, 50, 0.0)
