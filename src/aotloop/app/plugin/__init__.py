"""How the plugin gets into a person's client: by the client's own commands, from where this installation has it."""

from aotloop.app.plugin.claude import ClaudeCode
from aotloop.app.plugin.client import Client
from aotloop.app.plugin.codex import Codex

CLIENTS: dict[str, Client] = {"claude": ClaudeCode(), "codex": Codex()}

__all__ = ["CLIENTS", "Client"]
