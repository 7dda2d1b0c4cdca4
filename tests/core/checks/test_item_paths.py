"""Which atoms a failing item leads to: verdicts call items by their path, atoms that cover them by their name."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.checks.evaluation import evaluate
from aotloop.core import events
from aotloop.core.checks.checklist import failing_items_of
from aotloop.core.effects import Reopened
from aotloop.core.machine import advance
from aotloop.core.model import BaseCase, Check, ChecklistItem, Verdict
from aotloop.core.objective import digest_of
from tests.loops import a_loop, atom


def leaf(name: str, path: str = "missing") -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type="file", value=path))


BASE_CASE = BaseCase(
    checklist=(
        leaf("docs"),
        ChecklistItem(item="login", group=(leaf("tests"), leaf("tests"), leaf("a / b"))),
        ChecklistItem(item="one of", any_of=(leaf("fast"), leaf("small"))),
        ChecklistItem(item="outer", group=(ChecklistItem(item="inner", group=(leaf("deep"),)),)),
    )
)


@pytest.mark.parametrize(
    ("covers", "paths"),
    [
        ((), set()),
        (("docs",), {"docs"}),
        (("tests",), {"login / tests", "login / tests (2)"}),
        (("login",), {"login / tests", "login / tests (2)", "login / a/b"}),
        (("one of",), {"one of"}),
        (("small",), {"one of"}),
        (("outer",), {"outer / inner / deep"}),
        (("inner", "docs"), {"outer / inner / deep", "docs"}),
        (("no such item",), set()),
    ],
)
def test_what_an_atom_covers_is_called_failing_by_its_paths(covers: tuple[str, ...], paths: set[str]) -> None:
    assert failing_items_of(BASE_CASE, covers) == paths


def test_a_verdict_calls_items_by_the_same_paths(tmp_path: Path) -> None:
    names = [one.item for one in BASE_CASE.checklist or ()]
    assert set(evaluate(BASE_CASE, root=tmp_path).failing) == failing_items_of(BASE_CASE, names)


def test_an_atom_that_covers_an_item_in_a_group_is_reopened(tmp_path: Path) -> None:
    loop = a_loop(atom("A1", status="resolved", covers=("deep",)), atom("A2", status="resolved"), base_case=BASE_CASE)
    found = evaluate(BASE_CASE, root=tmp_path).failing
    failing = {path: result.evidence for path, result in found.items() if path.startswith("outer")}
    verdict = Verdict(passed=False, objective_digest=digest_of(loop.objective), at="then", failing=tuple(failing))
    advance(loop, events.VerdictReached(verdict=verdict))
    effects = advance(loop, events.BaseCaseFailed(failing=failing, at="now"))
    assert effects == [Reopened(atoms=("A1",))]
    assert [one.status for one in loop.atoms] == ["pending", "resolved"]
