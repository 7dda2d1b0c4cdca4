"""Shared parts of commands at the terminal: options, questions, consent, and output of results."""
