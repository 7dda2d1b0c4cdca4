"""How a run goes on: who takes a report from a driver, and says what the driver is to do next.

run = Run(loop)
effects = conduct(run, Began(at=...))      # perform them; report what came of each; and so on until Finished
"""

from aotloop.core.conduct.conductor import conduct
from aotloop.core.conduct.run import Attempt, Run

__all__ = ["Attempt", "Run", "conduct"]
