"""Mutated files end in valid data or in a clear error; nothing else, and never in another meaning than PyYAML's."""

from __future__ import annotations

import random

import pytest
import yaml
from faults.fuzzing.filing import state_file_changed
from hypothesis import given
from hypothesis import strategies as st

from aotloop.core.model import Loop
from aotloop.errors import StateFileInvalid
from aotloop.statefile.reader import decode, examine, split
from aotloop.statefile.yaml.emitter import ALWAYS_WRITTEN, to_data
from tests.statefile.test_document import COMMENTED

SNIPPETS = [
    b"\n", b"\t", b" ", b"#", b": ", b"- ", b"[", b"]", b"{", b"}", b'"', b"'", b"&a ", b"*a", b"!x ", b"|\n",
    b">\n", b"---\n", b"...\n",
    b"\x00", b"\xff", b"\xe2\x80\xa8", b"\r\n", b"null", b"~", b"<<: ", b"? ", b"%", b"@", b"`", b"\\", b"A1",
    b"id: A1\n", b"\xef\xbb\xbf",
]  # fmt: skip


DEFAULTED = {name for names in ALWAYS_WRITTEN.values() for name in names} | {*Loop.__struct_fields__, "depends_on"}
"""What stands in our data even where the file does not have it."""


def mutated(seed: int) -> bytes:
    chance = random.Random(seed)
    data = bytearray(COMMENTED.encode())
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(data))
        kind = chance.randrange(4)
        if kind == 0:
            del data[place : place + chance.randint(1, 12)]
        elif kind == 1:
            data[place:place] = chance.choice(SNIPPETS)
        elif kind == 2:
            data[place : place + 1] = bytes([chance.randrange(256)])
        else:
            start = chance.randrange(len(data))
            data[place:place] = data[start : start + chance.randint(1, 40)]
    return bytes(data)


@given(st.integers(0, 10**9))
def test_a_mutated_file_is_read_as_pyyaml_reads_it_or_refused(seed: int) -> None:
    data = mutated(seed)
    try:
        loop = decode(data)
    except StateFileInvalid as error:
        refused = error
    else:
        meant = yaml.load(split(data).yaml, Loader=yaml.CSafeLoader)
        assert agrees(to_data(loop), meant)
        assert examine(data).loop == loop
        return
    assert refused.findings
    assert str(refused)


@given(st.integers(0, 10**9))
def test_a_mutated_file_that_can_be_read_can_be_changed(seed: int) -> None:
    state_file_changed(mutated(seed))


def agrees(ours: object, theirs: object) -> bool:
    """All that we read stands in the file with that meaning; text may be what PyYAML takes for a number or a date."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        named = {str(key): value for key, value in theirs.items()}
        return all(
            key in DEFAULTED if named.get(key) is None else agrees(value, named[key])
            for key, value in ours.items()
            if value is not None
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(agrees(one, other) for one, other in zip(ours, theirs, strict=True))
    if isinstance(ours, str) and not isinstance(theirs, str):
        return not isinstance(theirs, dict | list) and theirs is not None
    return ours == theirs


@pytest.mark.parametrize("seed", range(40))
def test_reading_twice_gives_the_same(seed: int) -> None:
    data = mutated(seed)
    outcomes = []
    for _ in range(2):
        try:
            outcomes.append(decode(data))
        except StateFileInvalid as error:
            outcomes.append(str(error))  # type: ignore[arg-type]
    assert outcomes[0] == outcomes[1]
