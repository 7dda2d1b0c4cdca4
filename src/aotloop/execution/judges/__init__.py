"""Judges: an agent decides what no program can decide: scores for `quality`, a judgement for `assertion`.

The judge sees the files, never claims about them; it changes nothing; the same files are judged once.
"""
