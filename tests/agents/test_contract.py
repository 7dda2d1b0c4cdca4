"""Outcomes are told apart by their kind, and by nothing else."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from aotloop.agents.contract import Backend, Crashed, Failed, Failure, Garbage, Outcome, TimedOut
from aotloop.agents.registry import Settings, backend

KINDS = {
    "done",
    "proposed",
    "probed",
    "judged",
    "scored",
    "planned",
    "must_wait",
    "failed",
    "garbage",
    "timed_out",
    "crashed",
}


def test_every_kind_of_outcome_has_its_word() -> None:
    assert {one.__struct_config__.tag for one in get_args(Outcome)} == KINDS
    assert {one.__struct_config__.tag_field for one in get_args(Outcome)} == {"kind"}


@pytest.mark.parametrize("kind", [Failed, Garbage, TimedOut, Crashed])
def test_whatever_failed_has_a_reason_and_teaches_only_if_it_says_so(kind: type[Failure]) -> None:
    outcome = kind(reason="because")
    assert isinstance(outcome, Failure)
    assert not outcome.taught


def test_an_unknown_kind_is_not_read() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"kind": "perfect"}', type=Outcome)


def test_what_is_here_fulfils_the_contract() -> None:
    backends: list[Backend] = [backend("shell"), backend("command", Settings(argv=("agent",)))]
    assert [one.name for one in backends] == ["shell", "command"]
