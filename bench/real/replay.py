"""Real `aot run`s on recorded answers, beside the simulator: `make bench-real-run`. Both have to do the same.

The agent is a model behind an address, as the product drives it: its process, its files, git, checks. Only the model
is replaced, by a server that gives the recorded answers in an order drawn by the seed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from aotloop.core.model import Constraints
from bench.convergence.recorded import PASSED, Answers, RecordedLuck, job
from bench.real.answers import Recording, models, recordings
from bench.real.policies import EXPLICIT, Log, simulated
from bench.real.recorded_server import served
from bench.real.tasks import SECONDS, RealTask, tasks

TASKS = (
    "count_char",
    "first_upper",
    "fizzbuzz",
    "run_length",
    "balanced",
    "anagram_groups",
    "caesar",
    "ordinal",
    "excel_col",
    "compress_ranges",
    "human_size",
    "spiral",
)
"""Some of them pass at once and some seldom, and some never in one of their wordings."""
SEEDS = 3
LIMITS = Constraints(max_parallel_agents=1)
"""One agent at a time: else the order of attempts depends on how fast each is. All other limits are the defaults."""
_MARK = re.compile(r"\[task (\d+), wording (\d+)\]")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.real.replay", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    asked = parser.parse_args()
    chosen = [task for task in tasks() if task.name in TASKS]
    print(f"{'the same answers':<20}{'aot run: solved, attempts':>28}{'simulator: solved, attempts':>30}   the same")
    for number in range(asked.seeds):
        seed = f"d{number}"
        real, planned = run(chosen, seed), expected(chosen, seed)
        told = [f"{len(solved(log))} of {len(chosen)}, {len(log)}" for log in (real, planned)]
        print(f"{seed:<20}{told[0]:>28}{told[1]:>30}   {'yes' if real == planned else 'no'}", flush=True)


def solved(log: Log) -> set[int]:
    return {given.task for given in log if given.passed}


def table(chosen: list[RealTask]) -> tuple[Answers, ...]:
    """Outcomes of the answers whose text is recorded. The same letter: the same code."""
    return tuple(
        tuple("".join(PASSED if one.ok else chr(97 + one.code) for one in _of(task, n).answers) for n in range(3))
        for task in chosen
    )


def _of(task: RealTask, wording: int) -> Recording:
    model = models()[0]
    return next(one for one in recordings() if (one.model, one.task, one.phrasing) == (model, task.name, wording))


def expected(chosen: list[RealTask], seed: str) -> Log:
    answers = table(chosen)
    return simulated(RecordedLuck(seed, EXPLICIT, answers), job(EXPLICIT, answers), LIMITS, most=1000)


# --- the real run ------------------------------------------------------------------------------------------------


def run(chosen: list[RealTask], seed: str) -> Log:
    """What was asked, in its order. Raises RuntimeError if the run says anything but what its answers say."""
    luck = RecordedLuck(seed, EXPLICIT, table(chosen))

    def answer(prompt: str) -> str:
        found = _MARK.search(prompt)
        if found is None:
            raise ValueError(prompt)
        task, wording = int(found[1]), int(found[2])
        luck.answer(task, wording)
        recording = _of(chosen[task], wording)
        return f"```python\n{recording.codes[recording.answers[luck.given[-1].number].code].rstrip()}\n```\n"

    with tempfile.TemporaryDirectory() as folder, served(answer) as url:
        project = Path(folder, "project")
        _write(project, chosen, url)
        status = _aot_run(project, Path(folder, "home"))
        resolved = {number for number, task in enumerate(chosen) if _holds(project, task)}
    if resolved != solved(luck.given):
        raise RuntimeError(f"aot run ended with {status}; done: {resolved}; answers that passed: {solved(luck.given)}")
    return luck.given


def _holds(project: Path, task: RealTask) -> bool:
    argv = [sys.executable, f"checks/{task.name}.py"]
    return subprocess.run(argv, cwd=project, capture_output=True, check=False).returncode == 0


def _aot_run(project: Path, home: Path) -> int:
    home.mkdir()
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG", "TMPDIR"}}
    env = {**kept, "HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for argv in (("init", "-q", "-b", "main"), ("add", "-A"), (*identity, "commit", "-qm", "Checks")):
        subprocess.run(("git", *argv), cwd=project, env=env, check=True)
    for name in ("user.name", "user.email"):
        subprocess.run(("git", "config", name, "bench@localhost"), cwd=project, env=env, check=True)
    aot = str(Path(sys.executable).with_name("aot"))
    done = subprocess.run((aot, "run", "--yes"), cwd=project, env=env, capture_output=True, text=True, check=False)
    return done.returncode


def _write(project: Path, chosen: list[RealTask], url: str) -> None:
    (project / "checks").mkdir(parents=True)
    (project / ".claude").mkdir()
    for task in chosen:
        (project / "checks" / f"{task.name}.py").write_text(
            f"import runpy, signal, sys\nsys.dont_write_bytecode = True\nsignal.alarm({SECONDS})\n"
            f"exec({task.check!r}, runpy.run_path({task.file!r}))\n"
        )
    agent = f'kind = "openai"\nbase_url = "{url}"\nprompt = "short"\ntools = false\n'
    (project / "aot.toml").write_text(f'agent = "model"\n[agents.model]\n{agent}')
    (project / ".claude" / "aot-loop-state.md").write_text(f"---\n{json.dumps(_loop(chosen))}\n---\n")


def _loop(chosen: list[RealTask]) -> dict[str, Any]:
    check = "python3 checks/{}.py"
    items = [{"item": task.name, "check": {"type": "command", "value": check.format(task.name)}} for task in chosen]
    return {
        "objective": {
            "goal": "Small functions",
            "background_intent": "To see whether a real run does what the simulator does.",
            "deliverables": "One module for each function.",
            "definition_of_done": "Every check passes.",
            "base_case": {"checklist": items},
            "constraints": {"max_parallel_agents": LIMITS.max_parallel_agents},
        },
        "control": {
            "status": "pending",
            "iteration": 0,
            "stall_count": 0,
            "stop_requested": False,
            "redirect_requested": False,
            "prev_pending_count": -1,
        },
        "atoms": [_atom(number, task, wording) for number, task in enumerate(chosen) for wording in EXPLICIT],
        "or_groups": {
            task.name: {"choices": [_id(n, one) for one in EXPLICIT], "selected": _id(n, EXPLICIT[0]), "failed": []}
            for n, task in enumerate(chosen)
        },
        "bindings": {},
        "trail": [],
        "corrections": [],
    }


def _atom(number: int, task: RealTask, wording: int) -> dict[str, Any]:
    return {
        "id": _id(number, wording),
        "description": f"{task.phrasings[wording]} [task {number}, wording {wording}]",
        "status": "pending",
        "depends_on": [],
        "or_group": task.name,
        "touches": [task.file],
        "covers": [task.name],
    }


def _id(number: int, wording: int) -> str:
    return f"T{number}W{wording}"


if __name__ == "__main__":
    main()
