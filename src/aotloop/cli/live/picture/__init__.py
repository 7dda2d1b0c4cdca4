"""The picture of a run: rows of atoms or phases, drawn for a terminal and kept on it."""
