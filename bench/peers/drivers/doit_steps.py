"""doit: a task for each step, done once (`run_once`), in its default database, which it writes at the end of a run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from doit.cmd_base import ModuleTaskLoader
from doit.doit_cmd import DoitMain
from doit.tools import run_once

from bench.peers.drivers.order import Order, order_for, ordered, perform, run

DOIT_CONFIG = {"reporter": "zero", "verbosity": 0}


def tasks(order: Order) -> Iterator[dict[str, Any]]:
    for number in range(order.steps):
        is_command = order.work.endswith("commands")
        yield {
            "name": str(number),
            "actions": [order.command(number) if is_command else (_does, [order, number])],
            "task_dep": [f"step:{number - 1}"] if order.is_chain and number else [],
            "uptodate": [run_once],
        }


def _does(order: Order, number: int) -> None:
    order.step(number)


def task_step() -> Iterator[dict[str, Any]]:
    """For the program itself, which is told by the environment."""
    work, steps = os.environ["STEPS"].split()
    yield from tasks(order_for(work, int(steps), Path.cwd()))


def main() -> None:
    order = ordered()
    if order.work.endswith("commands"):
        doit = str(Path(sys.executable).with_name("doit"))
        argv = [doit, "-f", __file__, "--dir", str(order.folder), *([] if order.is_chain else ["-n", "2"])]
        run(argv, order, version("doit"), {"STEPS": f"{order.work} {order.steps}"})
        return
    os.chdir(order.folder)
    definitions = {"DOIT_CONFIG": DOIT_CONFIG, "task_step": lambda: tasks(order)}

    def work() -> None:
        if DoitMain(ModuleTaskLoader(definitions)).run(["run"]):
            raise AssertionError("a task failed")

    perform(work, "doit")


if __name__ == "__main__":
    main()
