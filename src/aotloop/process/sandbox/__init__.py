"""The sandbox of a confined process: one description of a fence, and the engines that enforce it.

`fence` describes what is open, closed and hidden. `engine` says which engine is in force here. `enclosure` starts a
process behind it.
"""

from aotloop.process.sandbox.engine import InForce, in_force, is_possible
from aotloop.process.sandbox.fence import Confinement, Policy
from aotloop.process.sandbox.permitted_paths import permitted
from aotloop.process.sandbox.thread_rules import confined

__all__ = ["Confinement", "InForce", "Policy", "confined", "in_force", "is_possible", "permitted"]
