"""The backend for Claude Code: how it is found, started, isolated, and understood."""
