"""Luigi with its local scheduler: a task for each step, which is done when its output, an empty file, is there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import luigi
from luigi.contrib.external_program import ExternalProgramTask

from bench.peers.drivers.order import Order, order_for, ordered, perform, run

QUIET = {"no_lock": True, "log_level": "CRITICAL"}


def the_order() -> Order:
    """From the environment, for the program itself."""
    work, steps = os.environ["STEPS"].split()
    return order_for(work, int(steps), Path.cwd())


class Step(luigi.Task):
    number = luigi.IntParameter()

    def requires(self) -> list[Step]:
        return [type(self)(number=self.number - 1)] if ORDER.is_chain and self.number else []

    def output(self) -> Any:
        return luigi.LocalTarget(str(ORDER.folder / "done" / str(self.number)))

    def run(self) -> None:
        ORDER.step(self.number)
        self.output().open("w").close()


class Command(ExternalProgramTask, Step):
    capture_output = False

    def program_args(self) -> list[str]:
        return ["/bin/sh", "-c", ORDER.command(self.number)]

    def run(self) -> None:
        super().run()
        self.output().open("w").close()


class All(luigi.WrapperTask):
    def requires(self) -> Iterator[luigi.Task]:
        kind = Command if ORDER.work.endswith("commands") else Step
        yield from (kind(number=one) for one in range(ORDER.steps))


ORDER = ordered() if __name__ == "__main__" else the_order()


def main() -> None:
    if ORDER.work.endswith("commands"):
        luigi_ = str(Path(sys.executable).with_name("luigi"))
        workers = "1" if ORDER.is_chain else "2"
        argv = [luigi_, "--module", "bench.peers.drivers.luigi_steps", "All", "--local-scheduler", "--no-lock"]
        argv += ["--workers", workers, "--log-level", "CRITICAL"]
        run(argv, ORDER, version("luigi"), {"STEPS": f"{ORDER.work} {ORDER.steps}"})
        return

    def work() -> None:
        if not luigi.build([All()], local_scheduler=True, **QUIET):
            raise AssertionError("a task failed")

    perform(work, "luigi")


if __name__ == "__main__":
    main()
