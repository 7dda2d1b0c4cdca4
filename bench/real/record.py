"""Records answers of any OpenAI-compatible endpoint to the tasks: `python -m bench.real.record --url URL --out FILE`.

The key is taken from OPENAI_API_KEY, if it is set. Each line is one task in one wording, with its outcome and tokens.
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import openai

from bench.real.tasks import RealTask, code_in, passes, question, tasks


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.real.record", description=__doc__)
    parser.add_argument("--url", required=True, help="up to /v1")
    parser.add_argument("--model", help="else the first that the server has")
    parser.add_argument("--count", type=int, default=10, help="answers to each wording")
    parser.add_argument("--only", help="tasks whose name contains this")
    parser.add_argument("--edits", action="store_true", help="only edits in small modules")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--at-once", type=int, default=1, help="requests at the same time")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    client = openai.OpenAI(base_url=asked.url, api_key=os.environ.get("OPENAI_API_KEY") or "none")
    model = asked.model or client.models.list().data[0].id
    end = time.monotonic() + 60 * asked.minutes
    chosen = [one for one in tasks() if (asked.only or "") in one.name and (one.module or not asked.edits)]
    with asked.out.open("ab") as file:
        for task in chosen:
            for wording in range(len(task.phrasings)):
                if time.monotonic() > end:
                    return
                ask = partial(_answer, client, model, task, wording, asked.temperature)
                with ThreadPoolExecutor(asked.at_once) as pool:
                    answers = list(pool.map(ask, range(asked.count)))
                file.write(msgspec.json.encode(_line(Path(model).stem, task, wording, answers)) + b"\n")
                file.flush()
                print(task.name, wording, f"{sum(ok for _, ok, _ in answers)}/{len(answers)}", flush=True)


def _answer(
    client: openai.OpenAI, model: str, task: RealTask, wording: int, temperature: float, _: int
) -> tuple[str, bool, int]:
    messages: Any = [{"role": "user", "content": question(task, wording)}]
    said = client.chat.completions.create(model=model, messages=messages, temperature=temperature, max_tokens=400)
    code = code_in(said.choices[0].message.content or "")
    return code, passes(task, code), said.usage.completion_tokens if said.usage is not None else len(code) // 4


def _line(model: str, task: RealTask, wording: int, answers: list[tuple[str, bool, int]]) -> dict[str, Any]:
    codes = list(dict.fromkeys(code for code, _, _ in answers))
    told = [[codes.index(code), ok, tokens] for code, ok, tokens in answers]
    return {"model": model, "task": task.name, "phrasing": wording, "codes": codes, "answers": told}


if __name__ == "__main__":
    main()
