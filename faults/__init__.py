"""Fault injection: faults of every kind, again and again; nothing is lost, doubled or left, nothing hostile runs."""
