"""Make, pay for, check and land one task. An atom's attempt and a phase's turn are two kinds of task."""
