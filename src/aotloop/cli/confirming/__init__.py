"""How a person decides what no program can: which items, what is asked, what follows from the answers."""
