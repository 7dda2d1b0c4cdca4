"""Agents: one assignment in, one outcome out. One file for each backend; `contract` says what all of them fulfil.

Nothing is re-exported: whoever only reads outcomes does not load what starts processes.
"""
