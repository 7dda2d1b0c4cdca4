"""The backend for every client that speaks the Agent Client Protocol."""
