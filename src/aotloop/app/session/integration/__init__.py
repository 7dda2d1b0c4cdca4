"""How the work of an atom in a session reaches the branch, or is taken back from it."""
