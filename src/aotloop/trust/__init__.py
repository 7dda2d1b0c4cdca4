"""The trust store: what a user accepted, in the user's data folder, outside of the repository of a loop."""

from aotloop.trust.accepted_commands import is_trusted, trust

__all__ = ["is_trusted", "trust"]
