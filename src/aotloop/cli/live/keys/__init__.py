"""Keys of a person who watches a run, and what they do."""
