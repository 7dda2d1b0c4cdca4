"""Checks on this machine keep the contract of checkers; where others do not answer, this machine checks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from aotloop.core.checks.checklist import AllOf, Leaf, Node
from aotloop.core.model import Check
from aotloop.execution.checker import Checked, CheckOrder, Checks, LocalChecker, Unchecked
from aotloop.execution.verification import Found, Verification
from tests.execution.checkers import CheckerContract, CheckShop, leaf
from tests.execution.makers import a_repository, worktrees_of


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[CheckShop]:
    root = a_repository(tmp_path / "project")
    worktrees = worktrees_of(root, tmp_path / "worktrees")
    yield CheckShop(root, LocalChecker(worktrees, Verification(timeout=30.0, variables={})))
    worktrees.close()


class TestOnThisMachine(CheckerContract):
    pass


class Elsewhere:
    """Another machine that answers as it is told."""

    def __init__(self, answer: Checked | Unchecked) -> None:
        self.answer = answer
        self.asked = 0

    async def check(self, _: CheckOrder) -> Checked | Unchecked:
        self.asked += 1
        return self.answer


def asked(shop: CheckShop, elsewhere: Elsewhere, check: Node, times: int = 1) -> tuple[Checked, list[str]]:
    said: list[str] = []
    assert isinstance(shop.checker, LocalChecker)
    checks = Checks(shop.checker, elsewhere, said.append)
    for _ in range(times):
        checked = asyncio.run(checks.check(shop.order(check)))
    return checked, said


def test_without_findings_from_elsewhere_this_machine_checks_and_says_so_once(shop: CheckShop) -> None:
    elsewhere = Elsewhere(Unchecked(reason="no worker took it"))
    checked, said = asked(shop, elsewhere, leaf("good", "true"), times=3)
    assert (checked.host, checked.found.holding, elsewhere.asked) == ("", ("good",), 3)
    assert said == ["checks run on this machine: no worker took it"]


def test_findings_from_elsewhere_count(shop: CheckShop) -> None:
    elsewhere = Elsewhere(Checked(found=Found(problem="bad"), host="other"))
    checked, said = asked(shop, elsewhere, leaf("good", "true"))
    assert (checked.host, checked.found.problem, said) == ("other", "bad", [])


def test_what_needs_a_judge_is_never_sent_away(shop: CheckShop) -> None:
    elsewhere = Elsewhere(Checked(found=Found(), host="other"))
    judged = AllOf("all", (leaf("good", "true"), Leaf("nice", Check(type="assertion", value="it is nice"))))
    checked, _ = asked(shop, elsewhere, judged)
    assert (checked.host, elsewhere.asked) == ("", 0)
    assert "nice" in (checked.found.problem or "")
