"""The web page: it parses requests, calls use cases and answers; it holds no logic."""
