"""Splices: the difference between two texts, as bytes that are replaced."""

from __future__ import annotations

import msgspec


class Splice(msgspec.Struct, frozen=True, array_like=True):
    """Splices of one list count in the text before all of them, from its begin to its end."""

    start: int
    end: int
    text: bytes


def splice_in(text: bytearray, splices: list[Splice]) -> None:
    """Raises ValueError if they do not fit."""
    end = len(text)
    for splice in reversed(splices):
        if not 0 <= splice.start <= splice.end <= end:
            raise ValueError("a splice lies outside of the text")
        text[splice.start : splice.end] = splice.text
        end = splice.start


def splices_between(before: list[bytes], after: list[bytes], start: int) -> list[Splice]:
    """For a text in parts, most of which are the same objects. `start`: the place of the text in the file before."""
    if before == after:
        return []
    if len(before) != len(after):
        return [_one_splice(before, after, start)]
    found: list[Splice] = []
    done = 0
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if old is new or old == new:
            continue
        start += sum(map(len, before[done:number]))
        found.append(Splice(start, start + len(old), new))
        start, done = start + len(old), number + 1
    return found


def _one_splice(before: list[bytes], after: list[bytes], start: int) -> Splice:
    least = min(len(before), len(after))
    head = next((number for number in range(least) if before[number] != after[number]), least)
    tail = next((number for number in range(least - head) if before[-1 - number] != after[-1 - number]), least - head)
    start += sum(map(len, before[:head]))
    left = before[head : len(before) - tail]
    return Splice(start, start + sum(map(len, left)), b"".join(after[head : len(after) - tail]))
