"""One process of an attempt: its folders, its output, its transcript, and what it used."""
