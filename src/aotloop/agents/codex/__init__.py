"""The backend for Codex: it runs in its own sandbox, with a home of its own."""
