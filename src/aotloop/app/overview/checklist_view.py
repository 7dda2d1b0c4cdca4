"""The base case as a tree for people: each item with the last verdict about it, and the evidence for that verdict.

The verdict is in the state file. The evidence is in the journal, as long as the journal is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from aotloop.core.checks.checklist import JUDGED, AnyOf, Leaf, Node, base_case_tree
from aotloop.core.checks.item_paths import SEPARATOR, distinct
from aotloop.core.model import Loop, Verdict
from aotloop.execution.journals.event_file import news_of
from aotloop.execution.journals.file_tail import last_bytes
from aotloop.execution.journals.journal import EVENTS, FOLDER
from aotloop.execution.run_events import Verified
from aotloop.statefile.locate import project_root

State = Literal["holds", "fails", "waits", "open"]
"""waits: for a person's judgement. open: not tried yet."""

_MOST_SEARCHED = 16 << 20


class BaseItem(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    path: str
    kind: str
    """all, any, or the type of the check."""
    value: str = ""
    state: State = "open"
    evidence: str = ""
    is_judged: bool = False
    """A person can confirm it, or reject it."""
    children: tuple[BaseItem, ...] = ()


class BaseCaseView(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[BaseItem, ...]
    passed: bool | None = None
    """None: it was not tried, or it is undecided."""
    at: str = ""
    commit: str | None = None
    is_outdated: bool = False


def view_of_base_case(state_file: str, loop: Loop) -> BaseCaseView:
    verdict = loop.control.verdict
    found = _last_verified(state_file) if verdict is not None else None
    tree = base_case_tree(loop.objective.base_case)
    items = _Tree(verdict, found).items(tree.children)
    if verdict is None:
        return BaseCaseView(items=items)
    return BaseCaseView(
        items=items,
        passed=None if verdict.undecided else verdict.passed,
        at=verdict.at,
        commit=verdict.commit,
        is_outdated=verdict.outdated,
    )


class _Tree:
    def __init__(self, verdict: Verdict | None, found: Verified | None) -> None:
        self._verdict = verdict
        self._failing = {**found.failing} if found is not None else {}
        self._holding = {**found.holding} if found is not None else {}
        self._waiting = {**found.waiting} if found is not None else {}

    def items(self, nodes: tuple[Node, ...], above: str = "", *, is_failing: bool = False) -> tuple[BaseItem, ...]:
        """`is_failing`: they belong to an any_of that fails, so each of them fails."""
        labels = distinct([node.name for node in nodes])
        return tuple(self._item(node, above + label, is_failing) for node, label in zip(nodes, labels, strict=True))

    def _item(self, node: Node, path: str, is_failing: bool) -> BaseItem:
        is_any = isinstance(node, AnyOf)
        is_failing = is_failing or self._is_failing(path)
        if isinstance(node, Leaf):
            return self._leaf(node, path, is_failing=is_failing)
        children = self.items(node.children, path + SEPARATOR, is_failing=is_failing)
        state = "fails" if is_failing else _joined([child.state for child in children], is_any=is_any)
        return BaseItem(
            name=node.name,
            path=path,
            kind="any" if is_any else "all",
            state=state,
            evidence=self._failing.get(path, ""),
            children=children,
        )

    def _leaf(self, leaf: Leaf, path: str, *, is_failing: bool) -> BaseItem:
        check = leaf.check
        state = "fails" if is_failing else self._state(path, is_judged=check.type in JUDGED)
        evidence = {"fails": self._failing, "holds": self._holding, "waits": self._waiting}.get(state, {})
        return BaseItem(
            name=leaf.name,
            path=path,
            kind=check.type,
            value=check.value or check.criteria or ", ".join(rule.criterion for rule in check.rubric or ()),
            state=state,
            evidence=evidence.get(path, ""),
            is_judged=check.type in JUDGED,
        )

    def _is_failing(self, path: str) -> bool:
        return self._verdict is not None and path in self._verdict.failing

    def _state(self, path: str, *, is_judged: bool) -> State:
        if self._verdict is None:
            return "open"
        if self._verdict.passed or path in self._holding:
            return "holds"
        if path in self._waiting or (is_judged and self._verdict.undecided):
            return "waits"
        return "open" if self._holding or self._failing else "holds"


def _joined(states: list[State], *, is_any: bool) -> State:
    if is_any and "holds" in states:
        return "holds"
    order: tuple[State, ...] = ("open", "waits", "fails", "holds") if is_any else ("fails", "waits", "open", "holds")
    return next((state for state in order if state in states), "open")


def _last_verified(state_file: str) -> Verified | None:
    path = Path(project_root(state_file), FOLDER, EVENTS)
    data, _ = last_bytes(path, _MOST_SEARCHED)
    found = len(data)
    while (found := data.rfind(b'"verified"', 0, found)) >= 0:
        start = data.rfind(b"\n", 0, found) + 1
        event = news_of(data[start:].partition(b"\n")[0])
        if isinstance(event, Verified) and event.atom is None:
            return event
        found = start
    return None
