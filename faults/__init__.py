"""Lets go wrong what can go wrong, again and again: nothing is lost, doubled or left, nothing hostile is run."""
