"""DBOS: a workflow that calls a step for each step, in a SQLite database; fanned out, the steps are awaited together.

After a kill, launching recovers the workflow by itself.
"""

from __future__ import annotations

import asyncio
import sys

from dbos import DBOS, DBOSConfig, SetWorkflowID

from bench.peers.drivers.order import ordered, perform

ORDER = ordered()
IDENTITY = "the-one"


@DBOS.step()
def step(number: int) -> int:
    return ORDER.step(number)


@DBOS.step()
async def awaited_step(number: int) -> int:
    return ORDER.step(number)


@DBOS.workflow()
def chain(steps: int) -> int:
    return sum(step(number) >= 0 for number in range(steps))


@DBOS.workflow()
async def fan(steps: int) -> int:
    return len(await asyncio.gather(*[awaited_step(number) for number in range(steps)]))


def work() -> None:
    if DBOS.get_workflow_status(IDENTITY) is not None:
        done = DBOS.retrieve_workflow(IDENTITY).get_result()
    else:
        with SetWorkflowID(IDENTITY):
            done = chain(ORDER.steps) if ORDER.is_chain else asyncio.run(fan(ORDER.steps))
    if done != ORDER.steps:
        raise AssertionError(done)


def main() -> None:
    config: DBOSConfig = {
        "name": "steps",
        "system_database_url": f"sqlite:///{ORDER.folder}/dbos.sqlite",
        "application_version": "1",
        "console_log_level": "ERROR",
    }
    DBOS(config=config)
    DBOS.launch()
    perform(work, "dbos")
    sys.stdout.flush()
    DBOS.destroy()


if __name__ == "__main__":
    main()
