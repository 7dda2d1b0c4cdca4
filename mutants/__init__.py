"""Mutation testing of the core: small changes are made to it, one at a time, and some test has to notice each."""
