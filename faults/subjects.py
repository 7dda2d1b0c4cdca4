"""Subjects: our programs that write files; their arguments, the files before, and the files after."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.loops import a_loop, as_file, atom
from tests.warm import COMMAND

from aotloop.core.commands import commands_of
from aotloop.core.model import BaseCase, Check, ChecklistItem, Loop
from aotloop.errors import AotError
from aotloop.statefile.phases import phase_reader
from aotloop.statefile.reader import decode, examine

ROOT = Path(__file__).parents[1]
SCRIPTS = {path.stem: str(path) for path in sorted(ROOT.glob("plugin/skills/*/scripts/*.py"))}
PATIENCE = 60.0
SESSION = "session-1"


@dataclass(frozen=True)
class Place:
    """A project of its own, with a home of its own."""

    folder: Path

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def state(self) -> Path:
        return self.project / ".claude" / "aot-loop-state.md"

    @property
    def phases(self) -> Path:
        return self.project / ".claude" / "autonomous-loop.json"

    def environ(self, more: dict[str, str] | None = None) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        kept |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        return {**kept, "HOME": str(self.home), **(more or {})}

    def run(
        self, argv: Sequence[str], more: dict[str, str] | None = None, told: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            argv,
            cwd=self.project,
            env=self.environ(more),
            input=told,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=PATIENCE,
        )


@dataclass(frozen=True)
class Subject:
    name: str
    argv: Callable[[Place], list[str]]
    is_done: Callable[[Place], bool]
    """Whether what it should write down is there."""
    file: Callable[[Place], Path] = lambda place: place.state
    told: Callable[[Place], str] = lambda _: ""
    is_kept: Callable[[Place], bool] = lambda _: True
    """What else it should write down, or say that it could not."""
    is_silent: bool = False
    """It never fails: in every case the calling session goes on."""


def a_place(folder: Path) -> Place:
    place = Place(folder)
    place.home.mkdir(parents=True)
    place.state.parent.mkdir(parents=True)
    (place.project / "README.md").touch()
    place.state.write_bytes(as_file(_loop()))
    shutil.copy(ROOT / "tests" / "golden" / "autonomous-loop-v2.json", place.phases)
    return place


def _loop() -> Loop:
    items = (
        ChecklistItem(item="it is there", check=Check(type="command", value="test -f README.md")),
        ChecklistItem(item="nothing is broken", check=Check(type="not_file", value="broken")),
    )
    atoms = (atom("A1", status="resolved"), atom("A2", "A1"), atom("A3", or_group="way"), atom("A4", or_group="way"))
    return a_loop(*atoms, base_case=BaseCase(checklist=items))


def loop_of(place: Place) -> Loop | None:
    """None: it is not valid."""
    try:
        data = place.state.read_bytes()
        return decode(data) if not examine(data).errors else None
    except (OSError, AotError):
        return None


def _aot(*words: str) -> Callable[[Place], list[str]]:
    return lambda _: [COMMAND, *words]


def _script(name: str, *words: str) -> Callable[[Place], list[str]]:
    return lambda _: [sys.executable, SCRIPTS[name], *words]


def _holds(question: Callable[[Loop], bool]) -> Callable[[Place], bool]:
    return lambda place: (loop := loop_of(place)) is not None and question(loop)


_COUNT_UP = """
import sys
from msgspec.structs import replace
from aotloop.cli.error_handler import guarded
from aotloop.statefile.phases.phase_store import PhaseStore
def count_up(loop):
    return replace(loop, global_iteration=77), None
def run(words):
    PhaseStore(words[0]).update(count_up)
    return 0
sys.exit(guarded(run, sys.argv[1:]))
"""


def _counted(place: Place) -> bool:
    try:
        return phase_reader.decode(place.phases.read_bytes()).global_iteration == 77
    except (OSError, AotError):
        return False


def _is_remembered(place: Place) -> bool:
    """That its commands were accepted. The record is found by its content: HOME is another one in this process."""
    loop, folder = loop_of(place), place.home / ".local" / "share" / "aotloop" / "trusted"
    if loop is None or not folder.is_dir():
        return False
    kept = [json.loads(path.read_bytes()) for path in folder.glob("*.json")]
    return commands_of(loop) in [one["commands"] for one in kept]


def _prompt(place: Place) -> str:
    told = {"session_id": SESSION, "cwd": str(place.project), "hook_event_name": "UserPromptSubmit"}
    return json.dumps({**told, "prompt": "/aot-loop:enter-recursion"})


SUBJECTS = (
    Subject("aot atom add", _aot("atom", "add", "one more", "--id", "A9"), _holds(lambda x: x.atoms[-1].id == "A9")),
    Subject("aot atom start", _aot("atom", "start", "A2"), _holds(lambda x: x.atoms[1].status == "in_progress")),
    Subject("aot verify", _aot("verify", "--yes", "--json"), _holds(lambda x: x.control.verdict is not None),
            is_kept=_is_remembered),
    Subject(
        "aot redirect",
        _aot("redirect", "--yes", "--set", "max_iterations=50", "--json"),
        _holds(lambda x: x.objective.constraints.max_iterations == 50),
    ),
    Subject("aot init", _aot("init", "--force", "--goal", "Other", "--command", "true"),
            _holds(lambda x: x.objective.goal == "Other")),
    Subject("add_binding", _script("add_binding", "A1", "--summary", "another summary"),
            _holds(lambda x: x.bindings["A1"].summary == "another summary")),
    Subject("update_atom", _script("update_atom", "A2", "in_progress"),
            _holds(lambda x: x.atoms[1].status == "in_progress")),
    Subject("request_stop", _script("request_stop", "--reason", "enough"), _holds(lambda x: x.control.stop_requested)),
    Subject("PhaseStore.update", lambda place: [sys.executable, "-c", _COUNT_UP, str(place.phases)], _counted,
            lambda place: place.phases),
    Subject(
        "hook: enter-recursion",
        lambda _: [sys.executable, "-I", "-S", str(ROOT / "plugin" / "hooks" / "aot_hook.py"), "UserPromptSubmit"],
        _holds(lambda x: x.control.session_id == SESSION),
        told=_prompt,
        is_silent=True,
    ),
)  # fmt: skip
"""Each changes the loop in the place that `a_place` makes."""
