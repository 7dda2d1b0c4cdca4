"""What a person configures, from flags, variables and files, as one value."""

from aotloop.config.loading import load
from aotloop.config.model import AgentConfig, Config

__all__ = ["AgentConfig", "Config", "load"]
