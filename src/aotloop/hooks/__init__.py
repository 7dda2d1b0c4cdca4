"""Hooks of interactive clients: for each a pure `decide`, and one thin `run` that reads, decides and answers.

They steer the session that entered the loop, and nobody else; whatever goes wrong, the session is not harmed.
"""
