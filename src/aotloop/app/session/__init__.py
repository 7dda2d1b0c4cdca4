"""What an interactive session does with a loop: it enters the loop, integrates work, and records judgements."""
