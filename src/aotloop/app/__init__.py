"""Use cases, one module or folder each: what a person, an agent or a program can do with a loop.

The command line, the scripts and the hooks call them, so each operation has one meaning. Nothing is imported here:
scripts and hooks start often, and each needs little of it.
"""
