"""What a worker accepts: an order for this task, in time, once, for what its own settings name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from aotloop.clock import unix_time
from aotloop.remote.wire import AttemptOrder, AttemptResult, CommitCheckOrder, belongs_to, written_check
from aotloop.remote.worker.order_acceptance import Acceptance, forget_old_orders
from tests.execution.checkers import leaf

ATTEMPT = AttemptOrder(
    run_id="r", atom="A1", attempt=1, epoch=0, repository="p", base="b" * 40, agent="shell", nonce="n", expires=2**40
)
CHECK = CommitCheckOrder(
    run_id="r",
    atom="A1",
    attempt=1,
    epoch=0,
    repository="p",
    base="b" * 40,
    tree="a" * 40,
    check=written_check(leaf("x", "true")),
    expires=2**40,
)
BOTH = pytest.mark.parametrize("order", [ATTEMPT, CHECK], ids=["attempt", "check"])
Any_ = AttemptOrder | CommitCheckOrder


@pytest.fixture
def acceptance(tmp_path: Path) -> Acceptance:
    return Acceptance(tmp_path, repositories=("p",), agents=("shell",), least=1)


@BOTH
def test_an_order_in_time_for_this_task_is_accepted_once(acceptance: Acceptance, order: Any_, tmp_path: Path) -> None:
    assert acceptance.refusal(order, order.id) is None
    assert "carried out before" in (acceptance.refusal(order, order.id) or "")
    after_a_restart = Acceptance(tmp_path, repositories=("p",), agents=("shell",), least=1)
    assert "carried out before" in (after_a_restart.refusal(order, order.id) or "")


OTHER: list[tuple[Any_, dict[str, Any]]] = [
    (order, {name: value})
    for order in (ATTEMPT, CHECK)
    for name, value in (("run_id", "s"), ("atom", "A2"), ("attempt", 2), ("epoch", 1))
]
OTHER += [(ATTEMPT, {"role": "probe"}), (CHECK, {"tree": "c" * 40}), (CHECK, {"prefix": "x"}), (CHECK, {"turn": 2})]


@pytest.mark.parametrize(("order", "other"), OTHER)
def test_an_order_of_another_task_run_or_epoch_is_refused(
    acceptance: Acceptance, order: Any_, other: dict[str, Any]
) -> None:
    """A server can exchange sealed orders, and cannot change what is in them."""
    swapped = replace(order, **other)
    assert "another task" in (acceptance.refusal(swapped, order.id) or "")
    assert "another task" in (acceptance.refusal(order, swapped.id) or "")


@BOTH
def test_an_old_order_is_refused(acceptance: Acceptance, order: Any_) -> None:
    old = replace(order, expires=unix_time() - 1)
    assert "too old" in (acceptance.refusal(old, old.id) or "")


@BOTH
def test_a_repository_that_is_not_named_is_refused(acceptance: Acceptance, order: Any_) -> None:
    other = replace(order, repository="../p")
    assert "does not name the repository" in (acceptance.refusal(other, other.id) or "")


def test_an_agent_that_is_not_named_is_refused(acceptance: Acceptance) -> None:
    other = replace(ATTEMPT, agent="claude")
    assert "does not name the agent" in (acceptance.refusal(other, other.id) or "")


def test_with_a_full_disk_nothing_is_accepted(tmp_path: Path) -> None:
    full = Acceptance(tmp_path, repositories=("p",), agents=("shell",), least=1 << 40)
    assert full.hindrance() is not None


def test_orders_are_forgotten_when_their_age_alone_refuses_them(acceptance: Acceptance, tmp_path: Path) -> None:
    assert acceptance.refusal(ATTEMPT, ATTEMPT.id) is None
    forget_old_orders(tmp_path)
    [file] = (tmp_path / "orders").iterdir()
    os.utime(file, (0, 0))
    forget_old_orders(tmp_path)
    assert not list((tmp_path / "orders").iterdir())


@pytest.mark.parametrize("name", ["run_id", "atom", "attempt", "epoch", "nonce"])
def test_a_result_of_another_order_never_belongs_to_this_one(name: str) -> None:
    fields: dict[str, Any] = {"run_id": "r", "atom": "A1", "attempt": 1, "epoch": 0, "nonce": "n"}
    assert belongs_to(AttemptResult(kind="made", **fields), ATTEMPT)
    fields[name] = 9 if isinstance(fields[name], int) else "other"
    assert not belongs_to(AttemptResult(kind="made", **fields), ATTEMPT)


@BOTH
@pytest.mark.parametrize("name", ["run_id", "atom", "attempt", "epoch", "repository", "base"])
@pytest.mark.parametrize("value", [None, [], {"x": 1}, -1.5])
def test_an_order_with_a_field_of_another_type_is_never_read(order: Any_, name: str, value: object) -> None:
    forged = msgspec.json.encode({**msgspec.to_builtins(order), name: value})
    with pytest.raises(msgspec.MsgspecError):
        msgspec.json.decode(forged, type=type(order))
