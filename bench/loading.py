"""Loading a state file, against PyYAML's C loader reading the same YAML."""

from __future__ import annotations

from collections.abc import Iterator

import yaml

from aotloop.statefile.reader import decode, split
from bench.files import state_file
from bench.measure import Row, in_turn

SIZES = {100: (40, "goal: none set"), 1_000: (12, "goal: at least 8"), 10_000: (5, "goal: at least 25")}


def rows() -> Iterator[Row]:
    for size, (rounds, goal) in SIZES.items():
        data = state_file(size)
        text = split(data).yaml
        medians = in_turn(
            {
                "ours": lambda data=data: decode(data),  # type: ignore[misc]
                "pyyaml": lambda text=text: yaml.load(text, Loader=yaml.CSafeLoader),  # type: ignore[misc]
            },
            rounds,
        )
        yield Row(f"load {size:,} atoms / PyYAML CSafeLoader", medians["ours"], medians["pyyaml"], goal, "ours")
