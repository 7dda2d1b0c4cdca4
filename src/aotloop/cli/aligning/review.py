"""Nothing is agreed on before the person has seen all of it, could change it, and knows what of it already holds."""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.alignment.draft import Draft
from aotloop.alignment.red_first import run_base_case
from aotloop.alignment.shape import Shape, shape_of
from aotloop.cli.aligning.editing import edited
from aotloop.cli.aligning.proposal import show
from aotloop.cli.asking import agrees, ask
from aotloop.cli.foreign import prose
from aotloop.cli.output import mark, tell
from aotloop.cli.progress import progress_line
from aotloop.cli.red_first import already_holding, seen
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.verify.results import Report

AGREE, EDIT, CHANGE, LEAVE = "a", "e", "c", "q"


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """How the base case is run before it is agreed on."""

    root: Path
    timeout: float
    wanted: bool = True

    def run(self, shape: Shape) -> Report | None:
        if not self.wanted or not self.root.is_dir():
            return None
        with progress_line() as on_progress:
            return run_base_case(shape.loop.objective, self.root, timeout=self.timeout, on_progress=on_progress)

    def tell(self, report: Report | None) -> None:
        tell(seen(report, "its folder is not there yet" if self.wanted else "as you asked"), err=True)
        for name, result in report.failing.items() if report is not None else ():
            if result.exit_code in (126, 127):  # a command that is not there fails, too, but will do so for ever
                tell(prose(f"{name}: {result.evidence}"), head=f"{mark(None)} ", err=True)
        for doubt in already_holding(report):
            tell(prose(doubt), head=f"{mark(None)} ", err=True)


class Reviewed(msgspec.Struct, frozen=True, kw_only=True):
    draft: Draft
    report: Report | None = None
    wish: str | None = None
    """What the person wants to be otherwise; None: it is agreed on."""


def review(draft: Draft, before: Loop | None, trial: Trial, *, by_words: bool) -> Reviewed:
    """`by_words`: whether somebody understands what should be changed. Raises AotError if nobody agrees."""
    while True:
        shape = shape_of(draft, before)
        show(shape)
        match _choice(by_words=by_words):
            case "a":
                agreed = _agree(shape, draft, trial)
                if agreed is not None:
                    return agreed
            case "e":
                draft = edited(draft) or draft
            case "c":
                wish = ask("What should be otherwise?") if by_words else "again"
                if wish:
                    return Reviewed(draft=draft, wish=wish)
            case _:
                raise nobody_agreed()


def nobody_agreed() -> AotError:
    return AotError("nothing was written: it was not agreed on")


def _choice(*, by_words: bool) -> str:
    options = {
        AGREE: "agree: the commands above are run now, to see what holds already, and then by the loop",
        EDIT: "edit it as a file",
        CHANGE: "say in words what should be otherwise" if by_words else "answer the questions once more",
        LEAVE: "leave; nothing is written",
    }
    for letter, meaning in options.items():
        tell(meaning, head=f"  {letter}  ", err=True)
    while (answer := ask("Letter:").lower()[:1]) not in options:
        tell("One of these letters, please.", err=True)
    return answer


def _agree(shape: Shape, draft: Draft, trial: Trial) -> Reviewed | None:
    """None: not so."""
    if not shape.gate.ready:
        tell(f"Not yet: {prose('; '.join(shape.gate.missing))}", head=f"{mark(False)} ", err=True)
        return None
    report = trial.run(shape)
    trial.tell(report)
    if already_holding(report) and not agrees("Agree to it all the same?"):
        return None
    return Reviewed(draft=draft, report=report)
