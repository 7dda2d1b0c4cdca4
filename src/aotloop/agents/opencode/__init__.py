"""The backend for OpenCode, over the Agent Client Protocol."""
