"""Folders with files of commits: filled, surveyed, and taken in as an agent left them."""
