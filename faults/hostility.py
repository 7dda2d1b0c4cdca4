"""Hostile repositories and agents in whole runs: no command runs without acceptance, nothing is written outside.

Each case makes a project and reports what happened to it; the trap around it (faults/injection/traps.py) reports the
rest.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.loops import atom
from tests.runner.agents import ANYBODY, scripted

from aotloop.agents.answers.answer_schema import RESULTS
from faults.counts import Counts, Deadline
from faults.hostile_places import Case, a_place, manners
from faults.injection.fields import put, texts_in
from faults.injection.traps import Trap
from faults.leading_out import LINKED

ANSWERS, CONFIG, LINKS = "injection: agents' answers", "injection: aot doctor", "links and paths that lead out"

# --- answers -----------------------------------------------------------------------------------------------------


def _answering(text_name: str) -> Case:
    def case(folder: Path) -> Iterator[str]:
        text = Trap(folder).texts()[text_name]
        answer: Any = {"success": True, "bindings_delta": {"summary": "x"}}
        for field in texts_in(RESULTS["worker"]):
            if "proposal" not in field:
                answer = put(answer, RESULTS["worker"], field, text)
        folder.mkdir()
        config = scripted(folder, {ANYBODY: [{"write": {"a": "a\n"}, "answer": answer}]})
        evil = atom(text, description=text, touches=(text,), findings=text)
        project, _ = a_place(
            folder, evil, atom("A2", text), base_case="test -f a", config=config, protect=(text, "tests/**")
        )
        yield from manners(project.run())
        yield from manners(project.aot("status"))
        yield from manners(project.aot("log"))

    return case


def _proposing(text_name: str) -> Case:
    """An agent that proposes parts, each text in them a trap."""

    def case(folder: Path) -> Iterator[str]:
        text = Trap(folder).texts()[text_name]
        part = {"description": text, "name": text, "depends_on": [], "touches": [text], "run": text}
        plain = {key: value for key, value in part.items() if key != "run"}
        folder.mkdir()
        orders = [
            {"answer": {"success": False, "reason": text, "proposal": {"reason": text, "children": children}}}
            for children in ([part, part], [plain, {**plain, "name": "other"}])
        ]
        fails = {"write": {"a": "a\n"}, "answer": {"success": False, "reason": text}}
        config = scripted(folder, {"A1": orders, ANYBODY: [fails]})
        project, _ = a_place(folder, atom("A1"), base_case="test -f a", config=config)
        ran = project.run()
        yield from manners(ran)
        if any(one.run is not None for one in project.loop.atoms):
            yield "an agent gave an atom a command"

    return case


# --- configuration -----------------------------------------------------------------------------------------------

_PROGRAMS = {
    "command": "argv = [{}]", "acp": 'kind = "acp"\nargv = [{}]', "claude": 'kind = "claude"\nprogram = {}',
    "codex": 'kind = "codex"\nprogram = {}', "opencode": 'kind = "opencode"\nprogram = {}',
}  # fmt: skip


def _looked_for(kind: str) -> Case:
    """`aot doctor` looks for the programs of agents; a program without acceptance is not asked for its version."""

    def case(folder: Path) -> Iterator[str]:
        config = f"agent = 'x'\n[agents.x]\n{_PROGRAMS[kind]}".replace("{}", json.dumps(str(Trap(folder).program)))
        project, _ = a_place(folder, atom("A1"), base_case="true", config=config)
        yield from manners(project.aot("doctor"))

    return case


def cases() -> Iterator[tuple[str, str, Case]]:
    """Kind, name, and what is done."""
    texts = list(Trap(Path("/")).texts())
    yield from ((LINKS, name, case) for name, case in LINKED.items())
    yield from ((CONFIG, f"doctor, {kind}", _looked_for(kind)) for kind in _PROGRAMS)
    for text in texts:
        yield ANSWERS, f"answer = {text}", _answering(text)
        yield ANSWERS, f"proposal = {text}", _proposing(text)


def endured(folder: Path, case: Case) -> tuple[list[str], int]:
    """What was wrong; and how much was run, or written where it does not belong."""
    wrong = list(case(folder))
    trap = Trap(folder)
    executed = trap.executed()
    allowed = ("scripted.", "project/", "output")
    escaped = [name for name in trap.files() if not name.startswith(allowed) and name != "outside/secret"]
    secret = folder / "outside" / "secret"
    if secret.exists() and secret.read_text() != "the secret\n":
        escaped.append("outside/secret")
    wrong += [*(f"was run: {one}" for one in executed), *(f"was written: {one}" for one in escaped)]
    return wrong, len(executed) + len(escaped)


def campaign(top: Path, deadline: Deadline, kinds: tuple[str, ...] = (LINKS, ANSWERS, CONFIG)) -> list[Counts]:
    counts = {kind: Counts(kind) for kind in kinds}
    before = {name: os.environ.get(name) for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")}
    os.environ.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    try:
        for number, (kind, name, case) in enumerate(one for one in cases() if one[0] in kinds):
            if deadline.is_over:
                break
            began, folder = time.monotonic(), top / f"hostile-{number}"
            wrong, injections = endured(folder, case)
            counts[kind].add(name, wrong, injections=injections)
            counts[kind].seconds += time.monotonic() - began
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        for key, value in before.items():
            os.environ.pop(key) if value is None else os.environ.update({key: value})
    return list(counts.values())
