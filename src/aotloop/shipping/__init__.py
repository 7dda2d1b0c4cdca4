"""A feature taken from an idea to being shipped without anybody watching: phase by phase, by any agent."""

from aotloop.shipping.launching import Ending, Wishes, ship

__all__ = ["Ending", "Wishes", "ship"]
