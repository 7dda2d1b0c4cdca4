"""Records second attempts in six ways, each after the same failed answer: `python -m bench.real.second --url URL …`.

What helps the next attempt? Nothing new, the failure in three lines, which tests passed and which did not, another
wording by a person, a template of the product, or the model's own words. Each line of the file is a model, a task, a
way, and how many attempts of it passed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import openai
from msgspec.structs import replace

from aotloop.agents.prompts.wordings import WORDINGS
from bench.real.tasks import SECONDS, RealTask, code_in, passes, question, tasks

Ask = Callable[[str], str]
WAYS = ("nothing", "text", "tests", "wording", "template", "own_words")
FIRST = ("nothing", "template", "own_words")
_OWN = (
    "Say the following task again in other words, for a programmer. Keep all names and examples. Do not solve it.\n\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.real.second", description=__doc__)
    parser.add_argument("--url", required=True, help="up to /v1")
    parser.add_argument("--name", required=True, help="of the model, in the file")
    parser.add_argument("--tasks", help="names, with commas between them; else all functions")
    parser.add_argument("--failures", type=int, default=3, help="failed answers for each task")
    parser.add_argument("--tries", type=int, default=6, help="first answers for each task")
    parser.add_argument("--first", action="store_true", help="first attempts instead, in the ways that need no failure")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    client = openai.OpenAI(base_url=asked.url, api_key=os.environ.get("OPENAI_API_KEY") or "none")
    ask = partial(_said, client, client.models.list().data[0].id)
    end = time.monotonic() + 60 * asked.minutes
    named = asked.tasks.split(",") if asked.tasks else [task.name for task in tasks() if not task.module]
    chosen = [task for task in tasks() if task.name in named]
    with asked.out.open("a") as file, ThreadPoolExecutor(len(WAYS)) as pool:
        for task in chosen:
            if time.monotonic() > end:
                return
            failed = [""] * asked.failures if asked.first else _failed(ask, task, pool, asked.tries)[: asked.failures]
            for way in (FIRST if asked.first else WAYS) if failed else ():
                passed = sum(pool.map(partial(_passes, ask, task, way), failed))
                name = f"first_{way}" if asked.first else way
                file.write(f"{asked.name} {task.name} {name} {passed} {len(failed)}\n")
                file.flush()
            print(task.name, len(failed), flush=True)


def _failed(ask: Ask, task: RealTask, pool: ThreadPoolExecutor, tries: int) -> list[str]:
    said = [code_in(one) for one in pool.map(ask, [question(task, 0)] * tries)]
    return [code for code in said if not passes(task, code)]


def _said(client: openai.OpenAI, model: str, prompt: str) -> str:
    messages: Any = [{"role": "user", "content": prompt}]
    said = client.chat.completions.create(model=model, messages=messages, temperature=0.8, max_tokens=250)
    return said.choices[0].message.content or ""


def _passes(ask: Ask, task: RealTask, way: str, failed: str) -> bool:
    return passes(task, code_in(ask(prompt_of(ask, task, way, failed))))


def prompt_of(ask: Ask, task: RealTask, way: str, failed: str) -> str:
    first = question(task, 0)
    match way:
        case "text":
            lines = [line for line in error_of(f"{failed}\n{task.check}").splitlines() if line.strip()][-3:]
            return f"{first}\n\nAn earlier attempt failed:\n" + "\n".join(line.strip()[:90] for line in lines)
        case "tests":
            return f"{first}\n\nOf the tests of an earlier attempt:\n" + "\n".join(compared(task, failed))
        case "wording":
            return question(task, 1)
        case "template":
            return question(_as(task, WORDINGS[0](task.phrasings[0])), 0)
        case "own_words":
            return question(_as(task, ask(_OWN + task.phrasings[0]).strip() or task.phrasings[0]), 0)
    return first


def _as(task: RealTask, words: str) -> RealTask:
    return replace(task, phrasings=(words, *task.phrasings[1:]))


def compared(task: RealTask, code: str) -> Iterator[str]:
    """Each assertion of the check in one line, with what became of it."""
    for line in [one for one in task.check.splitlines() if one.startswith("assert ")][:4]:
        verdict = "failed" if error_of(f"{code}\n{line}") else "passed"
        yield f"{verdict}: {line.removeprefix('assert ')[:90]}"


def error_of(code: str) -> str:
    """What a process that runs it says; empty if it ends well."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "checked.py").write_text(code, encoding="utf-8", errors="replace")
        argv = [sys.executable, "-I", "checked.py"]
        try:
            done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return "it does not end"
    return (done.stderr or "it failed") if done.returncode else ""


if __name__ == "__main__":
    main()
