"""How the plugin gets into a person's client: by the client's own commands, from where this installation has it."""

from aotloop.installing.claude import ClaudeCode
from aotloop.installing.client import Client
from aotloop.installing.codex import Codex

CLIENTS: dict[str, Client] = {"claude": ClaudeCode(), "codex": Codex()}

__all__ = ["CLIENTS", "Client"]
