"""What no program decides is judged by an agent: scores for `quality`, a judgement for `assertion`.

The judge sees the files, never what somebody said about them; it changes nothing; the same files are judged once.
"""
