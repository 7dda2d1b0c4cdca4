"""The demonstration with a real model: tasks it can sometimes do, one alternative it cannot, and a proof in the end."""

from __future__ import annotations

import json

from aotloop.cli.demo.shown_commands import Performer
from aotloop.cli.demo.stage import Stage
from aotloop.cli.demo.story import points, title
from aotloop.cli.ui.output import tell

TASKS = {
    "double": ("Write a Python function `double(x)` that returns x times two.", "double(3) == 6 and double(-4) == -8"),
    "reverse": ("Write a Python function `reverse(s)` that returns the string s backwards.", "reverse('abc') == 'cba'"),
    "biggest": (
        "Write a Python function `biggest(xs)` that returns max(xs).",
        "biggest([1, 5, 3]) == 5 and biggest([-4, -2]) == -2",
    ),
    "average": (
        "Write a Python function `average(xs)` that returns the mean of the numbers in the list xs.",
        "average([1, 2, 3]) == 2",
    ),
}
"""Name → description, what has to hold."""
CHOICES = {
    "square_hard": "Write a Python function `square(x)` that squares x by summing the first abs(x) odd numbers with an"
    " explicit bit-serial adder, without the operators *, + and **.",
    "square_easy": "Write a Python function `square(x)` that returns x times x.",
}
_TEST = "square(3) == 9 and square(-2) == 4"
_BODY = "\nThe loop of `aot demo --model`.\n"


def write_project(stage: Stage, base_url: str, model: str | None) -> None:
    stage.project.mkdir()
    (stage.project / "checks").mkdir()
    for name, (_, test) in {**TASKS, "square": ("", _TEST)}.items():
        (stage.project / "checks" / f"{name}.py").write_text(
            f"import pathlib, sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, '.')\n"
            f"assert pathlib.Path('{name}.py').exists(), '{name}.py is not there'\n"
            f"from {name} import {name}\nassert {test}, {test + ' does not hold'!r}\n"
        )
    (stage.project / "checks" / "square_hard.py").write_text(
        "import pathlib, runpy\nused = set(pathlib.Path('square.py').read_text()) & set('*+')\n"
        "assert not used, f'square.py has {sorted(used)} in it'\nrunpy.run_path('checks/square.py')\n"
    )
    (stage.project / "aot.toml").write_text(_config(base_url, model))
    state = stage.project / ".claude"
    state.mkdir()
    (state / "aot-loop-state.md").write_text("---\n" + json.dumps(_loop(), indent=1) + "\n---\n" + _BODY)


def _config(base_url: str, model: str | None) -> str:
    named = f"model = {json.dumps(model)}\n" if model else ""
    return (
        f'agent = "model"\n[agents.model]\nkind = "openai"\nbase_url = {json.dumps(base_url)}\n{named}'
        "tools = false\ncontext = 2048\ntemperature = 0.3\n"
    )


def _loop() -> dict[str, object]:
    names = [*TASKS, "square"]
    atoms: list[dict[str, object]] = [_atom(name, name, words) for name, (words, _) in TASKS.items()]
    atoms += [{**_atom(choice, "square", words), "or_group": "square"} for choice, words in CHOICES.items()]
    hard = next(atom for atom in atoms if atom["id"] == "square_hard")
    hard |= {"check": {"type": "command", "value": _check("square_hard")}, "covers": []}
    return {
        "objective": {
            "goal": "Five small functions, written by a small model",
            "background_intent": "To see a loop get work out of a model that often fails.",
            "deliverables": "One module for each function.",
            "definition_of_done": "Every function does what its check says.",
            "base_case": {
                "checklist": [{"item": name, "check": {"type": "command", "value": _check(name)}} for name in names]
            },
            "constraints": {"max_parallel_agents": 2, "max_attempts": 3, "max_iterations": 60, "max_runtime": "2m"},
        },
        "control": {
            "status": "pending",
            "iteration": 0,
            "stall_count": 0,
            "stop_requested": False,
            "redirect_requested": False,
            "prev_pending_count": 0,
        },
        "atoms": atoms,
        "or_groups": {"square": {"choices": [*CHOICES], "selected": "square_hard", "failed": []}},
        "bindings": {},
        "trail": [],
        "corrections": [],
    }


def _atom(atom: str, name: str, words: str) -> dict[str, object]:
    return {
        "id": atom,
        "description": words,
        "status": "pending",
        "depends_on": [],
        "touches": [f"{name}.py"],
        "covers": [name],
    }


def _check(name: str) -> str:
    return f"python3 checks/{name}.py"


def tell_model_story(performer: Performer, base_url: str, model: str) -> int:
    """The exit code of its `aot run`."""
    title("A real model, which often fails")
    tell(f"{model} at {base_url} writes five small functions. It changes files only in {performer.stage.folder}.")
    title("1. The checks fail before the work")
    performer.aot("gate", "--yes")
    title("2. The plan")
    performer.aot("graph")
    points({"square": "has two alternatives; the first is one that a small model cannot do."})
    title("3. The run: at most two minutes")
    status = performer.try_aot("run", "--yes")
    title("4. The proof")
    performer.try_aot("verify")
    performer.git("log", "--oneline", "--graph")
    return status
