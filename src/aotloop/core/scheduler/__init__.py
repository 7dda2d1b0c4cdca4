"""The scheduler of a run: it takes a report from the driver, and returns the next effects for the driver.

run = Run(loop)
effects = conduct(run, Began(at=...))      # perform them; report what came of each; and so on until Finished
"""

from aotloop.core.scheduler.decisions import conduct
from aotloop.core.scheduler.run_state import Attempt, Run

__all__ = ["Attempt", "Run", "conduct"]
