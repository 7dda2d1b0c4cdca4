"""Checks that exchange a protected file, even for a moment, decide nothing; in the checkout, and in a tree of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.checks.evaluation import evaluate
from aotloop.checks.results import Report
from aotloop.core.checks.checklist import base_case_tree
from aotloop.core.model import BaseCase, Check, ChecklistItem
from aotloop.fence.observation import CHECKOUT, Observation
from aotloop.fence.protected_watch import protected_at
from aotloop.git.repository import find_repository
from tests.git.checkouts import make_checkout

ATTACKS = {
    "swap and put back": [
        "cp -p tests/t.sh k; echo exit 0 > tests/t.sh; sh tests/t.sh; r=$?; cat k > tests/t.sh; exit $r"
    ],
    "two names": ["cp -p tests/t.sh k; mv k tests/t.sh"],
    "the folder": ["mv tests k; mkdir tests; echo exit 0 > tests/t.sh; sh tests/t.sh; rm -r tests; mv k tests"],
    "the folder above": ["cd deep; mv a k; mkdir -p a/b; touch a/b/t; rm -r a; mv k a"],
    "a link": ["mv tests k; ln -s k tests; rm tests; mv k tests"],
    "a new test": ["echo exit 0 > tests/conftest.py; rm tests/conftest.py"],
    "rights": ["chmod 777 tests/t.sh"],
    "a name of its content": ["ln tests/t.sh k; echo exit 0 > k; printf 'exit 1\\n' > k; rm k"],
    "removed": ["rm tests/t.sh"],
    "by another item": ["echo exit 0 > tests/t.sh", "sleep 0.3; sh tests/t.sh"],
}


def report_of(root: Path, commands: list[str]) -> Report:
    repository = find_repository(root)
    assert repository is not None
    protected = protected_at(repository, repository.head().commit, ("tests/**", "deep"))
    items = tuple(
        ChecklistItem(item=str(number), check=Check(type="command", value=command))
        for number, command in enumerate(commands)
    )
    tree = base_case_tree(BaseCase(checklist=items))
    return Observation(protected=protected).of(root, lambda: evaluate(tree, root=root))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_checkout(
        tmp_path / "project", {"tests/t.sh": "exit 1\n", "deep/a/b/t": "x\n", ".gitignore": "*.log\n", "b.txt": "b\n"}
    )


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_protected_file_that_was_exchanged_even_for_a_moment_makes_it_undecided(root: Path, attack: str) -> None:
    report = report_of(root, ATTACKS[attack])
    assert not report.passed
    assert report.undecided
    assert "changed while its commands ran" in report.waiting[CHECKOUT].evidence


def test_what_tools_leave_beside_protected_files_and_what_is_ignored_is_no_change(root: Path) -> None:
    harmless = (
        "mkdir -p tests/__pycache__ && touch tests/__pycache__/t.pyc tests/x.log && echo x > b.txt && cat tests/t.sh"
    )
    assert report_of(root, [harmless, "mkdir build; touch build/x; ls tests deep"]).passed
