"""What agents judged is kept for the user, bounded, and never required."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.trust import judgements
from aotloop.trust.judgements import MOST, recall, remember


def keep(key: str, *, passed: bool = True) -> None:
    remember(key, passed=passed, evidence="seen", scores={"clarity": 4.0}, item="It reads well")


def test_what_was_judged_is_known_again(own_home: Path) -> None:
    keep("k")
    known = recall("k")
    assert known is not None
    assert (known.passed, known.evidence, known.scores, known.item) == (True, "seen", {"clarity": 4.0}, "It reads well")
    assert known.at.endswith("Z")
    assert recall("other") is None
    assert (own_home / ".local/share/aotloop/judged/k.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"{", b'{"passed": null, "evidence": ""}', b"[]", b"\xff"])
def test_what_cannot_be_read_was_not_judged(own_home: Path, content: bytes) -> None:
    keep("k")
    (own_home / ".local/share/aotloop/judged/k.json").write_bytes(content)
    assert recall("k") is None


def test_the_oldest_go_when_there_are_too_many(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgements, "MOST", 5)
    monkeypatch.setattr(judgements, "_MOST_BEFORE_PRUNING", 7)
    folder = own_home / ".local/share/aotloop/judged"
    for number in range(7):
        keep(str(number))
        os.utime(folder / f"{number}.json", (number, number))
    keep("7")
    assert sorted(path.stem for path in folder.iterdir()) == ["3", "4", "5", "6", "7"]
    assert MOST > 100


def test_a_home_that_cannot_be_written_to_costs_the_memory_only(own_home: Path) -> None:
    (own_home / ".local").write_text("a file")
    keep("k")
    assert recall("k") is None
