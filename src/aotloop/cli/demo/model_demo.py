"""Runs the demonstration with a model: finds or starts its server, fills the project, tells how often it failed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aotloop.agents.openai.backend import how_to_install, is_installed
from aotloop.cli.demo.local_model import NAME, require_model, served
from aotloop.cli.demo.model_story import tell_model_story, write_project
from aotloop.cli.demo.shown_commands import Performer
from aotloop.cli.demo.stage import Stage, furnish, stage
from aotloop.cli.demo.story import title
from aotloop.cli.ui.output import tell
from aotloop.config.endpoints import address
from aotloop.config.values import Place
from aotloop.errors import Unavailable


def show_model(url: str, folder: Path | None, *, keep: bool, plain: bool, yes: bool) -> int:
    """The exit code of its `aot run`. `url`: empty for the small model of this machine."""
    if not is_installed():
        raise Unavailable("a model is asked through the package openai, which is not installed", hint=how_to_install())
    with _base_url(url, yes=yes) as base_url, stage(folder, keep=keep) as place:
        furnish(place, lambda there: write_project(there, base_url, None))
        performer = Performer(place, pace=0.0, is_plain=plain)
        status = tell_model_story(performer, base_url, NAME if not url else "A model")
        _count(place, status)
    return status


@contextlib.contextmanager
def _base_url(url: str, *, yes: bool) -> Iterator[str]:
    if url:
        yield address(url, Place("--model"))
        return
    with served(require_model(yes=yes)) as local:
        yield local


def _count(place: Stage, status: int) -> None:
    title("How often it failed")
    ended = list(_outcomes(place))
    done = ended.count("done")
    tell(f"{len(ended)} attempts: {done} passed their check, {len(ended) - done} did not.")
    if status == 0:
        tell("The base case holds: every check was run by aot, not by the model.")
    else:
        tell("The base case does not hold: nothing was called done that is not. `aot demo --model` draws new answers.")


def _outcomes(place: Stage) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for line in (place.project / ".aot" / "events.jsonl").read_bytes().splitlines():
            event = msgspec.json.decode(line)
            if event.get("kind") == "attempt_ended" and event.get("outcome") in {
                "done",
                "failed",
                "garbage",
                "crashed",
            }:
                yield str(event["outcome"])
