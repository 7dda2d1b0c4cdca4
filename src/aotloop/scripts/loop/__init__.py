"""Scripts about a whole loop: its state, its status, its agreement, its direction."""
