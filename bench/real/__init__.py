"""A real model in the evidence: tasks with hidden checks, recorded answers to them, a recorder, and what follows.

`tasks.json` has small functions and edits in small modules, each in three wordings, with a check that the model never
sees. `answers.jsonl` has answers with their outcome and tokens. All outcomes are in `bench/convergence/recorded.txt`.
"""
