"""Prompts of agents: the attempt, the follow-up in one conversation, the dialogue of a planner."""
