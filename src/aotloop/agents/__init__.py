"""Agents: one assignment in, one outcome out. One file for each backend; `contract` says what all of them fulfil.

This package re-exports nothing: a module that only reads outcomes does not load the code that starts processes.
"""
