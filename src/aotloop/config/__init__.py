"""The configuration of a person, from flags, variables and files, as one value."""

from aotloop.config.schema import AgentConfig, Config
from aotloop.config.sources import load

__all__ = ["AgentConfig", "Config", "load"]
