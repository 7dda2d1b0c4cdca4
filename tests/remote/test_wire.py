"""What travels survives the way, and ids tell attempts apart."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from aotloop.core.checks.checklist import AllOf, AnyOf, Leaf, Node
from aotloop.core.model import Check
from aotloop.remote.wire import AttemptOrder, AttemptResult, CheckNode, belongs_to, read_check, written_check

ORDER = AttemptOrder(run_id="r", atom="A1", attempt=1, epoch=0, repository="p", base="0" * 40, agent="shell")
LEAF = Leaf("one", Check(type="command", value="true"))


@pytest.mark.parametrize("node", [LEAF, AllOf("all", (LEAF, AnyOf("any", (LEAF, LEAF)))), AnyOf("any", ())])
def test_a_check_comes_back_as_it_was(node: Node) -> None:
    sent = msgspec.json.encode(written_check(node))
    assert read_check(msgspec.json.decode(sent, type=CheckNode)) == node


def test_an_order_says_no_more_than_it_has_to() -> None:
    assert set(msgspec.json.decode(msgspec.json.encode(ORDER))) == {
        *("run_id", "atom", "attempt", "epoch", "repository", "base", "agent")
    }


@pytest.mark.parametrize(
    "other", [{"atom": "A2"}, {"attempt": 2}, {"epoch": 1}, {"run_id": "s"}, {"role": "probe"}], ids=str
)
def test_every_attempt_has_an_id_of_its_own(other: dict[str, object]) -> None:
    assert replace(ORDER, **other).id != ORDER.id


def test_a_result_of_another_attempt_does_not_belong_to_an_order() -> None:
    result = AttemptResult(run_id="r", atom="A1", attempt=1, epoch=0, kind="made")
    assert belongs_to(result, ORDER)
    assert not any(
        belongs_to(replace(result, **{key: value}), ORDER)
        for key, value in {"run_id": "s", "atom": "A2", "attempt": 2, "epoch": 1}.items()
    )
