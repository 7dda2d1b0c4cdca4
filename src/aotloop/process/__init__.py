"""The only layer that starts processes: one description in, one end out, and a stated rule for what is left.

`spec` describes a process, `start` starts it. `blocking_run` follows it from a thread, `async_run` from an event loop.
"""
