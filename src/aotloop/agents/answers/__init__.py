"""Answers of agents are found, validated and understood here. No claim in them is believed."""
