"""Convergence: how often agents that fail get a job done, and at what cost; simulated, with known chances.

The model, in words, is in docs/benchmarks-convergence.md. In code: `jobs` (the work), `luck` (the agents), `accounts`
(the cost), `ours` (the real machine, in the simulator), `others` (the policies for comparison).
"""
