"""The contract of checkers in executable form: on whichever machine a commit is checked, the run sees the same."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from aotloop.core.checks.checklist import AllOf, AnyOf, Leaf, Node
from aotloop.core.model import Check
from aotloop.execution.checker import Checked, Checker, CheckOrder
from aotloop.git.repository import find_repository
from tests.execution.makers import lives
from tests.patience import FOREVER, PATIENCE, reached


@dataclass
class CheckShop:
    """A repository with one commit, and a checker for it."""

    root: Path
    checker: Checker
    host: str = ""
    attempt: int = 0

    def git(self, *words: str) -> str:
        repository = find_repository(self.root)
        assert repository is not None
        return repository.git(*words).text

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            (self.root / name).write_text(text)
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", "another")
        return self.git("rev-parse", "HEAD")

    def order(self, check: Node, commit: str | None = None) -> CheckOrder:
        self.attempt += 1
        at = commit or self.git("rev-parse", "HEAD")
        return CheckOrder(check=check, commit=at, task="A1", attempt=self.attempt)

    def check(self, check: Node, commit: str | None = None) -> Checked:
        checked = asyncio.run(self._check(self.order(check, commit)))
        assert isinstance(checked, Checked), checked
        return checked

    async def _check(self, order: CheckOrder) -> object:
        return await self.checker.check(order)


def leaf(name: str, command: str) -> Leaf:
    return Leaf(name, Check(type="command", value=command))


class CheckerContract:
    """Subclasses have a fixture `shop`."""

    def test_parts_hold_and_fail_with_their_evidence(self, shop: CheckShop) -> None:
        either = AnyOf("either", (leaf("no", "false"), Leaf("there", Check(type="file", value="file"))))
        check = AllOf("all", (leaf("good", "test -f file"), leaf("bad", "echo because; exit 3"), either))
        found = shop.check(check).found
        assert "good" in found.holding
        assert "bad" not in found.holding
        assert any("there" in one or one == "either" for one in found.holding)
        assert "because" in found.failing["bad"]
        assert "bad" in (found.problem or "")

    def test_it_says_on_which_machine(self, shop: CheckShop) -> None:
        checked = shop.check(leaf("good", "true"))
        assert (checked.found.problem, shop.host in checked.host, bool(checked.host)) == (None, True, bool(shop.host))

    def test_it_checks_the_commit_and_not_the_checkout(self, shop: CheckShop) -> None:
        first = shop.git("rev-parse", "HEAD")
        second = shop.commit(new="n")
        (shop.root / "loose").write_text("not committed")
        is_second = AllOf("all", (leaf("new", "test -f new"), leaf("clean", "test ! -e loose")))
        assert shop.check(is_second, first).found.holding == ("clean",)
        assert shop.check(is_second, second).found.problem is None

    def test_what_one_check_leaves_the_next_does_not_see(self, shop: CheckShop) -> None:
        assert shop.check(leaf("litter", "echo x > litter; echo y > file")).found.problem is None
        again = AllOf("all", (leaf("gone", "test ! -e litter"), leaf("restored", "grep -q first file")))
        assert shop.check(again).found.problem is None

    def test_a_check_that_changes_a_protected_file_decides_nothing(self, shop: CheckShop) -> None:
        found = shop.check(leaf("sly", "chmod u+w guarded/file; echo x > guarded/file")).found
        assert "guarded/file" in (found.problem or "")

    def test_output_is_bounded(self, shop: CheckShop) -> None:
        found = shop.check(leaf("loud", "yes loud | head -c 3000000; exit 1")).found
        assert 100 < len(found.failing["loud"]) < 5000

    def test_cancelled_its_processes_are_dead(self, shop: CheckShop, tmp_path: Path) -> None:
        async def scenario() -> None:
            check = leaf("long", f"echo $$ > {tmp_path}/pid; exec sleep {FOREVER}")
            task = asyncio.ensure_future(shop.checker.check(shop.order(check)))
            pid = int(await reached(lambda: _text(tmp_path / "pid")))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, PATIENCE)
            await reached(lambda: not lives(pid))

        asyncio.run(scenario())


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def unique() -> str:
    return f"r{os.urandom(5).hex()}"
