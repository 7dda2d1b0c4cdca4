"""Any OpenAI-compatible endpoint as an agent: a small coding agent of our own, in a process of its own."""
