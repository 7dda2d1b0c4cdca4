"""The fast reader: what it says about the outline of a file."""

from __future__ import annotations

import pytest

from aotloop.statefile.yaml.fast_reader import outline


@pytest.mark.parametrize(
    ("yaml", "found"),
    [
        (b"a: 1\nb:\n  c: {d: 2}\n  e: [3]\n", {"a": 1, "b": {"c": None, "e": None}}),
        (b"a:\n  - mark\n  - b: 1\n  - [c]\n", {"a": ["mark", None, None]}),
        (b'a: []\nb: {}\nc:\nd: "\'"\n', {"a": [], "b": {}, "c": None, "d": "'"}),
        (b"- a\n- b\n", None),
        (b"a: &x 1\nb: *x\n", None),
        (b"a: [1\n", None),
    ],
)
def test_an_outline_has_two_levels(yaml: bytes, found: object) -> None:
    assert outline(yaml) == found
