"""Loading a state file, against PyYAML's C loader reading the same YAML; and YAML as people also write it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import partial

import yaml

from aotloop.statefile.reader import decode, split
from bench.files import state_file
from bench.measure import Row, in_turn

SIZES = {100: (40, "goal: none set"), 1_000: (12, "goal: at least 8"), 10_000: (5, "goal: at least 25")}

_TEXT = r'description: "(.*)"'
UNUSUAL = {
    "aliases": ((r"resolved$", "&done resolved", 1), (r"status: resolved$", "status: *done", 0)),
    "tags": ((r"status: (\w+)$", r"status: !!str \1", 0),),
    "lists over lines": ((r"\[(A\d+), (A\d+)\]", r"[\1,\n      \2]", 0),),
    "a comment in each line": ((r"^(    .*)$", r"\1  # a note", 0),),
    "blocks of text": ((_TEXT, r"description: |\n      \1\n      - and more # of it", 0),),
    "single quotes": ((_TEXT, r"description: 'it''s \1 -> # {x'", 0),),
    "signs in plain text": ((_TEXT, r"description: NULL -> is ~ not `x` \1", 0),),
}
"""What is replaced by what, and how often; 0: everywhere."""


def rows() -> Iterator[Row]:
    yield from ordinary()
    yield from unusual()


def unusual() -> Iterator[Row]:
    data = state_file(1_000)
    works = {"ordinary": partial(decode, data)}
    for name, changes in UNUSUAL.items():
        text = data.decode()
        for pattern, by, times in changes:
            text = re.sub(pattern, by, text, count=times, flags=re.MULTILINE)
        works[name] = partial(decode, text.encode())
    best = in_turn(works, 12, clock=time.thread_time)
    for name in UNUSUAL:
        yield Row(f"load 1,000 atoms: {name} / ordinary YAML", best[name], best["ordinary"], "goal: at most 3", "other")


def ordinary() -> Iterator[Row]:
    for size, (rounds, goal) in SIZES.items():
        data = state_file(size)
        text = split(data).yaml
        medians = in_turn(
            {
                "ours": lambda data=data: decode(data),  # type: ignore[misc]
                "pyyaml": lambda text=text: yaml.load(text, Loader=yaml.CSafeLoader),  # type: ignore[misc]
            },
            rounds,
            clock=time.thread_time,
        )
        yield Row(f"load {size:,} atoms / PyYAML CSafeLoader", medians["ours"], medians["pyyaml"], goal, "ours")
