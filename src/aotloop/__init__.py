"""Run coding agents in a loop that halts and converges."""
