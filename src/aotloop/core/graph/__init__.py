"""The work graph: which atoms are required, which are ready, and in which order they start."""
