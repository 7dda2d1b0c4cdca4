"""Commits and what is done with them: made, merged, compared, reverted, sent to other machines."""
