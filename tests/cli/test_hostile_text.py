"""Nothing that stands in a state file, or is typed by somebody else's script, can steer the terminal."""

from __future__ import annotations

from pathlib import Path

import msgspec

from aotloop.core.model import Loop
from aotloop.statefile.yaml import emitter
from tests.cli.terminal import COLOUR, on_terminal
from tests.loops import a_loop, atom, write_loop

EVIL = "\x1b]0;owned\x07\x1b[8m\x9b2J\u202e\r\n"


def poisoned(loop: Loop) -> Loop:
    """Every text that is free to be anything carries sequences that would steer a terminal."""
    kept = {"status", "type", "at"}

    def poison(value: object, key: str = "") -> object:
        if isinstance(value, dict):
            return {(name if key != "bindings" else name + EVIL): poison(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [poison(inner, key) for inner in value]
        return value + EVIL if isinstance(value, str) and key not in kept else value

    data = emitter.to_data(loop)
    groups = data.pop("or_groups")
    result = poison(data)
    assert isinstance(result, dict)
    result["or_groups"] = {name + EVIL: poison(group) for name, group in groups.items()}
    return msgspec.convert(result, Loop)


def test_nothing_in_a_file_can_steer_the_terminal(project: Path) -> None:
    atoms = [
        atom("A1", status="in_progress", run="make"),
        atom("A2", or_group="way"),
        atom("A3", or_group="way"),
        atom("A4", "A1"),
        atom("A5", status="resolved"),
    ]
    loop = poisoned(a_loop(*atoms, command="false"))
    path = write_loop(project, loop)
    key = r'"\e[8m\u202e\r"'
    path.write_text(
        path.read_text(encoding="utf-8").replace("objective:\n", f"objective:\n  {key}: 1\n"), encoding="utf-8"
    )
    name = f"A1{EVIL}"
    for words in (
        ["status"],
        ["graph"],
        ["log"],
        ["validate"],
        ["gate", "--no-run"],
        ["atom", "list"],
        ["atom", "show", name],
        ["atom", "show", f"{EVIL}"],
        ["verify", "--yes"],
        ["atom", "fail", name, "--reason", EVIL + "x"],
        ["or", "select", f"way{EVIL}", f"A3{EVIL}", "--reason", EVIL + "x"],
        ["or", "select", f"way{EVIL}", f"A2{EVIL}", "--reason", EVIL + "x"],
        ["atom", "add", EVIL + "x", "--id", EVIL + "y"],
        ["atom", "start", f"A4{EVIL}"],
        ["log"],
    ):
        _, screen = on_terminal(*words)
        left = COLOUR.sub("", screen.shown.replace("\r\x1b[2K", "")).replace("\r\n", "\n")
        assert [one for one in left if not one.isprintable() and one != "\n"] == [], (words, screen.shown)
        assert "\x1b[8m" not in screen.shown, words
        assert "bug" not in screen.text, (words, screen.text)
    assert key in path.read_text(encoding="utf-8")
