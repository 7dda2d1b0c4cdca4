"""Prefect 3: a flow that calls a task for each step; its own server beside it, a home in the folder, nothing reported.

Results are persisted, and keyed by the inputs of a task, so that a second run of the flow finds what the first one did.
"""

from __future__ import annotations

import os

from bench.peers.drivers.order import ordered, perform

ORDER = ordered()
os.environ.update(
    HOME=str(ORDER.folder),
    PREFECT_HOME=str(ORDER.folder / "prefect"),
    PREFECT_SERVER_ALLOW_EPHEMERAL_MODE="true",
    PREFECT_SERVER_ANALYTICS_ENABLED="false",
    PREFECT_LOGGING_LEVEL="ERROR",
    DO_NOT_TRACK="1",
)
os.environ.pop("PREFECT_API_URL", None)

from prefect import flow, task  # noqa: E402 - its settings are read when it is imported
from prefect.cache_policies import INPUTS  # noqa: E402


@task(persist_result=True, cache_policy=INPUTS)
def step(number: int) -> int:
    return ORDER.step(number)


@flow(persist_result=True)
def chain(steps: int) -> int:
    return sum(step(number) >= 0 for number in range(steps))


@flow(persist_result=True)
def fan(steps: int) -> int:
    return sum(future.result() >= 0 for future in [step.submit(number) for number in range(steps)])


@flow
def nothing() -> None:
    """Starts the server."""


@flow
def all_of_it() -> None:
    """The server lives as long as the outermost flow."""
    nothing()

    def work() -> None:
        done = (chain if ORDER.is_chain else fan)(ORDER.steps)
        if done != ORDER.steps:
            raise AssertionError(done)

    perform(work, "prefect")


if __name__ == "__main__":
    all_of_it()
