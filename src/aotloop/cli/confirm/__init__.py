"""How a person decides items that no program can decide: which items, which questions, and the results."""
