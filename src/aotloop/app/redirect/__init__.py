"""A person changes the direction of a loop: wanted changes → corrections → one write of the state file, or none."""
