"""The phase loop on the ground: what git, files and tests say of it, and what follows. Nothing here starts an agent."""
