"""The campaign: each dangerous text, in each field for foreign text; then every command and script is called.

It runs as its own process (`python -m faults.injection.campaign FOLDER`, with cases on standard input): it changes its
working folder and its home, and has no person to ask.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from tests.hooks.situations import SESSION
from tests.loops import a_loop, atom

from aotloop.config.schema import Config
from aotloop.core.model import Atom, AtomCheck, BaseCase, Check, ChecklistItem, Loop
from aotloop.core.phases.model import PhaseLoop
from aotloop.hooks.payload import Payload
from aotloop.statefile.yaml import emitter
from faults.counts import Counts, Deadline
from faults.injection import commands, settings
from faults.injection.fields import Path as Field
from faults.injection.fields import put, texts_in
from faults.injection.traps import Trap

KINDS = {
    Loop: "injection: state file",
    PhaseLoop: "injection: phase file",
    Payload: "injection: hook payloads",
    Config: "injection: aot.toml",
}
ROOT = Path(__file__).parents[2]
_WORKERS = 2


@dataclass(frozen=True)
class Case:
    kind: str
    field: Field
    text: str
    """The name of one of the trap's."""

    def __str__(self) -> str:
        return f"{'.'.join(self.field)} = {self.text}"


def cases(texts: Iterable[str]) -> list[Case]:
    texts = list(texts)
    fields = {one: settings.places() if one is Config else texts_in(one) for one in KINDS}
    return [Case(KINDS[one], field, text) for one in KINDS for field in fields[one] for text in texts]


def base_loop() -> Loop:
    """With an entry of everything, so that a text in it is looked at."""
    items = (
        ChecklistItem(item="files", check=Check(type="file", value="*.md")),
        ChecklistItem(item="judged", check=Check(type="assertion", value="it is fine", scope=("src/**",))),
        ChecklistItem(item="tests", check=Check(type="command", value="true")),
    )
    atoms: tuple[Atom, ...] = (
        atom("A1", status="in_progress", check=AtomCheck(type="file", value="a"), touches=("src/**",)),
        atom("A2", "A1", or_group="way"),
        atom("A3", or_group="way"),
        atom("A4", status="resolved"),
    )
    return a_loop(*atoms, base_case=BaseCase(checklist=items))


def base_phases() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "tests" / "golden" / "autonomous-loop-v2.json").read_bytes())
    return {**found, "session_id": SESSION}


def as_file(data: dict[str, Any]) -> bytes:
    text = emitter.block(msgspec.to_builtins(data, str_keys=True), 0)
    return b"---\n" + text.encode("utf-8", "replace") + b"---\n\n# Notes\n"


# --- in the process ----------------------------------------------------------------------------------------------


def struck(case: Case, trap: Trap) -> list[str]:
    """What went wrong, other than what the trap shows."""
    text = trap.texts()[case.text]
    state_file = trap.folder / "project" / ".claude" / "aot-loop-state.md"
    phase_file = state_file.with_name("autonomous-loop.json")
    phase_file.unlink(missing_ok=True)
    usual = as_file(emitter.to_data(base_loop()))
    if case.kind == KINDS[Loop]:
        data = put(emitter.to_data(base_loop()), Loop, case.field, text)
        return commands.complaints(state_file, as_file(data), _first_atom(data), text)
    if case.kind == KINDS[PhaseLoop]:
        phase_file.write_text(json.dumps(put(base_phases(), PhaseLoop, case.field, text)))
        told = {"session_id": SESSION, "cwd": str(state_file.parent.parent), "prompt": "/aot-loop:ship"}
        return [*commands.complaints(state_file, usual, "A1", text), *commands.hook_complaints(told, state_file)]
    state_file.write_bytes(usual)
    if case.kind == KINDS[Config]:
        file = trap.folder / "project" / "aot.toml"
        file.write_text(settings.written(case.field, text))
        wrong = commands.config_complaints(state_file)
        file.unlink()
        return wrong
    payload = {"session_id": SESSION, "cwd": str(state_file.parent.parent), "tool_name": "Edit", "tool_input": {}}
    return commands.hook_complaints(put(payload, Payload, case.field, text), state_file)


def _first_atom(data: dict[str, Any]) -> str:
    return str(data["atoms"][0]["id"]) if data["atoms"] else "A1"


def main() -> None:
    folder = Path(sys.argv[1])
    given = msgspec.json.decode(sys.stdin.buffer.read(), type=list[tuple[str, tuple[str, ...], str]])
    os.chdir(folder / "project")
    trap, told = Trap(folder), sys.stdout
    for kind, field, text in given:
        before = trap.files()
        wrong = struck(Case(kind, field, text), trap)
        after = trap.files()
        escaped = [name for name in after if after[name] != before.get(name)]
        for name in escaped:
            if name not in before:
                (folder / name).unlink()
        told.write(json.dumps({"wrong": wrong, "executed": trap.executed(), "escaped": escaped}) + "\n")
        told.flush()


# --- from outside ------------------------------------------------------------------------------------------------


def a_place(folder: Path) -> Trap:
    trap = Trap(folder)
    (folder / "project" / ".claude").mkdir(parents=True)
    (folder / "home").mkdir()
    trap.set()
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for words in (
        ["init", "-q", "-b", "main"],
        ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", "the beginning"],
    ):
        subprocess.run(["git", *words], cwd=folder / "project", check=True, env=environ)
    return trap


def campaign(
    top: Path, deadline: Deadline, *, most: int | None = None, seed: int = 0, texts: tuple[str, ...] = ()
) -> list[Counts]:
    counts = {name: Counts(name) for name in KINDS.values()}
    began = time.monotonic()
    trap = a_place(top / "injection-0")
    chosen = cases(texts or trap.texts())
    random.Random(seed).shuffle(chosen)
    shares = [chosen[:most][number::_WORKERS] for number in range(_WORKERS)]
    places = [trap, *(a_place(top / f"injection-{number}") for number in range(1, _WORKERS))]
    running = [_started(place, share) for place, share in zip(places, shares, strict=True)]
    for process, share in zip(running, shares, strict=True):
        for case, ended in zip(share, _heard(process, deadline), strict=False):
            executed, escaped = ended["executed"], ended["escaped"]
            traces = [*(f"was run: {one}" for one in executed), *(f"was written: {one}" for one in escaped)]
            counts[case.kind].add(str(case), [*ended["wrong"], *traces], injections=len(traces))
    for one in counts.values():
        one.seconds = (time.monotonic() - began) / len(counts)
    return list(counts.values())


def _started(trap: Trap, share: list[Case]) -> subprocess.Popen[bytes]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environ = {**kept, "HOME": str(trap.folder / "home"), "TMPDIR": str(trap.temporary), "PYTHONPATH": str(ROOT)}
    environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    with (trap.folder / "results").open("wb") as results, (trap.folder / "errors").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "faults.injection.campaign", str(trap.folder)],
            cwd=ROOT,
            env={**environ, "PYTHONDONTWRITEBYTECODE": "1", "AOT_CONFINE": "off"},
            stdin=subprocess.PIPE,
            stdout=results,
            stderr=errors,
        )
    if process.stdin is None:
        raise AssertionError("it has an input")
    process.stdin.write(msgspec.json.encode([(one.kind, one.field, one.text) for one in share]))
    process.stdin.close()
    return process


def _heard(process: subprocess.Popen[bytes], deadline: Deadline) -> Iterator[dict[str, Any]]:
    folder = Path(str(process.args[3]))  # type: ignore[index]
    try:
        process.wait(min(deadline.left, 3600.0))
        if process.returncode:
            raise RuntimeError((folder / "errors").read_text(errors="replace")[-2000:])
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for line in (folder / "results").read_bytes().split(b"\n")[:-1]:
        yield json.loads(line)


if __name__ == "__main__":
    main()
