"""The input of a hook from a client: any input gets an answer, and only the loop's file changes."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
from tests.hooks.situations import SESSION, driven
from tests.loops import as_file, atom

from aotloop.hooks.entry import HOOKS, run
from aotloop.hooks.write_targets import writes_to
from aotloop.statefile.reader import examine
from faults.fuzzing.scratch import a_folder

LIB = Path(__file__).parents[2] / "plugin" / "lib"


@lru_cache(maxsize=1)
def _state_file() -> Path:
    project = a_folder()
    path = project / ".claude" / "aot-loop-state.md"
    path.parent.mkdir()
    return path


def _fresh() -> Path:
    path = _state_file()
    loop = driven(atom("A1", touches=("src/**",)), atom("A2", "A1"))
    loop.objective = msgspec.structs.replace(loop.objective, protect=("tests/**", ".env"))
    path.write_bytes(as_file(loop))
    return path


def asked(event: str, payload: dict[str, Any], state_file: Path) -> bytes:
    """What it answers; the other loop's file is beside it, if there is one."""
    phase_file = state_file.with_name("autonomous-loop.json")
    return run(event, payload, str(state_file), str(phase_file) if phase_file.exists() else None)


def hook_payload(data: bytes) -> None:
    """Without the shim: any input with the right types gets an answer, and the loop's file stays valid."""
    try:
        payload = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return
    if not isinstance(payload, dict):
        return
    for event in HOOKS:
        path = _fresh()
        before = path.read_bytes()
        try:
            said = asked(event, {"session_id": SESSION, **payload}, path)
        except msgspec.ValidationError:  # another type than any client sends; the shim answers nothing
            continue
        except ValueError as error:
            assert "null" in str(error)  # a path that no program can write to
            continue
        assert event == "PreCompact" or isinstance(msgspec.json.decode(said), dict)
        after = path.read_bytes()
        assert after == before or not examine(after).errors
        assert [one.name for one in path.parent.iterdir()] == [path.name]


@lru_cache(maxsize=1)
def _quick() -> Any:
    spec = importlib.util.spec_from_file_location("aot_quick", LIB / "aot_quick.py")
    if spec is None or spec.loader is None:
        raise AssertionError("the plugin is not where it should be")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    taken = ModuleType("aot_hand_over")
    taken.decided = lambda *_: module.NOTHING  # type: ignore[attr-defined]
    sys.modules["aot_hand_over"] = taken  # it would start another interpreter
    return module


def hook_shim(data: bytes) -> None:
    """Before anything of ours is loaded: whether a call is any of ours is told without an error, for any object."""
    quick = _quick()
    os.environ["AOT_STATE_FILE"] = str(_fresh())
    try:
        for event in (*HOOKS, "", "Other"):
            with suppress(ValueError, RecursionError, StopIteration):  # no JSON: it is complained about in one line
                assert quick.answer_to(event, data) == quick.NOTHING
    finally:
        del os.environ["AOT_STATE_FILE"]


def shell_writes(data: bytes) -> None:
    writes_to(data.decode("utf-8", "replace"), "aot-loop-state.md")
