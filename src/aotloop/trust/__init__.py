"""What a user accepted is kept in the user's data folder, out of reach of the repository that a loop came with."""

from aotloop.trust.commands import is_trusted, trust

__all__ = ["is_trusted", "trust"]
