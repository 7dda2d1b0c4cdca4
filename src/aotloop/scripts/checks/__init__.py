"""Scripts about checks: one check outside of a loop, and what a judge found."""
