"""The plain form has the same values as what a person wrote; where that is not certain, there is none."""

from __future__ import annotations

import random

import pytest
import yaml

from aotloop.statefile.yaml import fast_reader
from aotloop.statefile.yaml.plain_form import plain_form

ALIKE = [
    "a: &x one\nb: *x\n",
    "- id: &x A1\n  k: 'v'\n- id: B\n  k: *x\n",
    'a: &x "one: two"\nb: [c, d]\ne: *x\n',
    "a: &x 12\nb: *x\nc: &y 12\nd: *y\n",
    "a: !!str 12\nb: !!str true\nc: plain text\n",
    "a: [\n    b,\n    c\n  ]\nd: 1\n",
    "k:\n  a: [b,\n      c]\n  d: [\n    'e', \"f\"\n  ]\n",
    "t: |\n  a: &x one\n  b: *x\na: &x two\nb: *x\n",
    "t: >-\n  a: [\n    b ]\na: !!str 1\n",
]
OTHERS = [
    "a: *x\nb: &x one\n",
    "a: &x one\nb: &x two\nc: *x\n",
    "a: &x\n  b: 1\nc: *x\n",
    "a: &x [1]\nb: *x\n",
    'a: "\n  b: &x one\n  c: *x"\n',
    "a: '\n  b: !!str one'\n",
    'a: "x\nk: |\n  y\nb: &x one\nc: z"\n',
    "a: one\n",
    "a: &x it's\nb: *x\n",
    "a: &x one\n  two\nb: *x\n",
    "a: !!str one\n\n  two\n",
    "a: &x null\nb: *y\n",
]


@pytest.mark.parametrize("source", ALIKE)
def test_the_values_are_the_same(source: str) -> None:
    form = plain_form(source.encode())
    assert form is not None
    assert yaml.safe_load(form) == yaml.safe_load(source)
    assert fast_reader.read(source.encode(), object) == yaml.safe_load(source)


@pytest.mark.parametrize("source", OTHERS)
def test_what_is_not_certain_has_no_plain_form(source: str) -> None:
    assert plain_form(source.encode()) is None


def test_whatever_is_mixed_the_fast_reader_says_what_the_careful_one_says_or_nothing() -> None:
    chance, read = random.Random(20), 0
    lines = [line for source in (*ALIKE, *OTHERS) for line in source.splitlines(keepends=True)]
    for _ in range(1500):
        source = "".join(chance.choices(lines, k=chance.randint(1, 6)))
        try:
            value = yaml.load(source, yaml.CSafeLoader)
        except yaml.YAMLError:
            value = None
        found = fast_reader.read(source.encode(), object)
        read += found is not None
        assert found is None or found == value, source
    assert read > 100
