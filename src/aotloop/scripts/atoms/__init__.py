"""Scripts about atoms: the work graph, what became of an atom, and its work on the branch."""
