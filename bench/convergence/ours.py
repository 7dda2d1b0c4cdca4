"""Our policy: the machine itself, as a run uses it, driven by the simulator. Only what agents do is made up."""

from __future__ import annotations

from aotloop.core.model import Constraints
from aotloop.simulator import simulate
from bench.convergence.accounts import Account, Ended
from bench.convergence.agents import Agents, Habits
from bench.convergence.graphs import COMMIT, loop_of
from bench.convergence.jobs import Job
from bench.convergence.luck import Luck

AS_SHIPPED = Habits()
DEFAULTS = Constraints()


def ours(
    job: Job, luck: Luck, limits: Constraints = DEFAULTS, habits: Habits = AS_SHIPPED, *, budget: int | None = None
) -> Ended:
    """`budget`: attempts for each part, else as many as each policy has."""
    account = Account(job) if budget is None else Account(job, budget)
    loop = loop_of(job, limits, checked=habits.checked, probed=habits.probed)
    world = Agents(job, luck, account, habits)
    simulated = simulate(loop, world, commit=COMMIT)
    account.check(simulated.verifications * len(job.units))
    failing = set(world.failing(loop))
    return account.end(
        solved=not failing,
        claimed=simulated.status == "completed",
        units=job.share_of(unit.number for unit in job.units if unit.number not in failing),
        time=simulated.minutes,
        reason=simulated.reason or "",
    )
