"""How often a job gets done, and at what cost, by agents that fail: simulated, with chances that are known.

The model, in words, is in docs/benchmarks-convergence.md. In code: `jobs` (what is to be done), `luck` (what agents
do), `accounts` (what it costs), `ours` (the real machine, in the simulator), `others` (what it is compared with).
"""
