"""The evaluation of one tree of checks: leaves run at the same time, and results have the order of the file.

Only the thread that called `evaluate` knows the tree. Pool threads run single leaves and return their results, so
nesting never waits in a pool thread, and no number of workers can deadlock. A group starts all its children. An any_of
starts one after another and stops at the first that passes. Judged leaves wait until nothing else runs: a judgement
costs money, and a judge should read files that do not change.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

from aotloop.checks.command_check import TIMEOUT, check_command
from aotloop.checks.file_check import check_file
from aotloop.checks.judge import Judge
from aotloop.checks.leaves import Circumstances, check_leaf, not_needed
from aotloop.checks.results import CheckResult, Report, group_result, report_of
from aotloop.core.checks.checklist import JUDGED, AllOf, AnyOf, Leaf, Node, base_case_tree
from aotloop.core.checks.item_paths import SEPARATOR, distinct
from aotloop.core.model import BaseCase
from aotloop.process.cancellation import Cancellation
from aotloop.process.sandbox import Confinement

__all__ = ["Progress", "check_command", "check_file", "evaluate", "leaves_by_path"]

Progress = Callable[[str, Literal["started", "finished"], CheckResult | None], None]
"""Called for each leaf with its path of names; from any thread, but never from two at once."""


def evaluate(
    tree: Node | BaseCase,
    *,
    root: Path,
    timeout: float = TIMEOUT,
    judge: Judge | None = None,
    workers: int | None = None,
    on_progress: Progress | None = None,
    cancellation: Cancellation | None = None,
    env: Mapping[str, str] | None = None,
    confinement: Confinement | None = None,
) -> Report:
    """The items of the report are the children of an "all of" at the top (a checklist), or the single given node."""
    node = base_case_tree(tree) if isinstance(tree, BaseCase) else tree
    ours = Cancellation()  # an error here ends only the work that we started, not other work of the caller
    circumstances = Circumstances(
        root=root, timeout=timeout, env=env, judge=judge, cancellation=ours, confinement=confinement
    )
    with (cancellation or Cancellation()).calling(ours.cancel):
        result = _Evaluation(circumstances, on_progress, workers or _default_workers()).run(node)
    whole_list = isinstance(node, AllOf) and result.children
    return report_of(result.children if whole_list else (result,))


def leaves_by_path(tree: Node | BaseCase) -> dict[str, Leaf]:
    """Every leaf in the order of the file, by the path of names used in reports, progress and judgements."""
    node = base_case_tree(tree) if isinstance(tree, BaseCase) else tree
    return {place.path: place.node for place in _Place.top(node).all() if isinstance(place.node, Leaf)}


def _default_workers() -> int:
    return min(4, os.cpu_count() or 1)


_GLANCE = 0.5
"""Seconds."""


class _Place:
    """A node of the tree while it is evaluated."""

    def __init__(self, node: Node, label: str, parent: _Place | None = None, position: int = 0) -> None:
        self.node = node
        self.parent = parent
        self.position = position
        # A list at the top has no name in a path; its items do.
        below_list = parent is not None and parent.parent is None and isinstance(parent.node, AllOf)
        above = "" if parent is None or below_list else f"{parent.path}{SEPARATOR}"
        self.path: str = above + label
        self.children: tuple[_Place, ...] = ()
        if not isinstance(node, Leaf):
            labels = distinct([child.name for child in node.children])
            self.children = tuple(
                _Place(child, label, self, position)
                for position, (child, label) in enumerate(zip(node.children, labels, strict=True))
            )
        self.result: CheckResult | None = None

    @classmethod
    def top(cls, node: Node) -> _Place:
        return cls(node, distinct([node.name])[0])

    def all(self) -> Iterator[_Place]:
        yield self
        for child in self.children:
            yield from child.all()


class _Evaluation:
    def __init__(self, circumstances: Circumstances, on_progress: Progress | None, workers: int) -> None:
        self._circumstances = circumstances
        self._on_progress = on_progress
        self._telling = threading.Lock()
        self._done: queue.SimpleQueue[tuple[_Place, CheckResult | BaseException]] = queue.SimpleQueue()
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="check")
        self._running = 0
        self._to_judge: list[_Place] = []

    def run(self, node: Node) -> CheckResult:
        top = _Place.top(node)
        try:
            self._start(top)
            while top.result is None:
                self._judge_if_nothing_runs(top)
                try:
                    place, outcome = self._done.get(timeout=_GLANCE)
                except queue.Empty:  # a signal that came just before the wait is handled now, not at the end
                    continue
                self._running -= 1
                if isinstance(outcome, BaseException):
                    raise outcome  # noqa: TRY301 - any failure cancels all running checks
                self._finish(place, outcome)
        except BaseException:
            self._circumstances.cancellation.cancel()
            raise
        finally:
            self._pool.shutdown(cancel_futures=True)
        return top.result

    def _start(self, place: _Place) -> None:
        if isinstance(place.node, Leaf):
            if place.node.check.type in JUDGED:
                self._to_judge.append(place)
            else:
                self._submit(place, place.node)
        elif not place.children:
            self._running += 1
            self._done.put((place, _combined(place)))
        else:
            for child in place.children[:1] if isinstance(place.node, AnyOf) else place.children:
                self._start(child)

    def _submit(self, place: _Place, leaf: Leaf, *, is_moot: bool = False) -> None:
        self._running += 1
        self._pool.submit(self._check, place, leaf, is_moot)

    def _judge_if_nothing_runs(self, top: _Place) -> None:
        if not self._running:
            waiting, self._to_judge = self._to_judge, []
            is_moot = _is_lost(top)
            for place in waiting:
                if isinstance(place.node, Leaf):
                    self._submit(place, place.node, is_moot=is_moot)

    def _finish(self, place: _Place, result: CheckResult) -> None:
        place.result = result
        parent = place.parent
        if parent is None:
            return
        following = parent.children[place.position + 1 :]
        if isinstance(parent.node, AnyOf):
            if following and not result.passed:
                self._start(following[0])
                return
            for choice in following:
                choice.result = _not_needed(choice.node, f"not needed: {place.node.name!r} passed")
        if all(sibling.result is not None for sibling in parent.children):
            self._finish(parent, _combined(parent))

    def _check(self, place: _Place, leaf: Leaf, is_moot: bool) -> None:
        """Runs in a thread of the pool."""
        try:
            self._tell(place, "started", None)
            result = check_leaf(leaf, self._circumstances, place.path, is_moot=is_moot)
            self._tell(place, "finished", result)
            self._done.put((place, result))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits for the results
            self._done.put((place, error))

    def _tell(self, place: _Place, what: Literal["started", "finished"], result: CheckResult | None) -> None:
        if self._on_progress is not None:
            with self._telling:
                self._on_progress(place.path, what, result)


def _is_lost(place: _Place) -> bool:
    """Whether it has failed already, independent of its open children."""
    if place.result is not None:
        return place.result.passed is False
    return isinstance(place.node, AllOf) and any(map(_is_lost, place.children))


def _combined(place: _Place) -> CheckResult:
    results = [child.result for child in place.children if child.result is not None]
    return group_result(place.node.name, "any_of" if isinstance(place.node, AnyOf) else "group", results)


def _not_needed(node: Node, evidence: str) -> CheckResult:
    if isinstance(node, Leaf):
        return not_needed(node, evidence)
    return CheckResult(
        name=node.name,
        kind="any_of" if isinstance(node, AnyOf) else "group",
        passed=None,
        evidence=evidence,
        skipped=True,
        children=tuple(_not_needed(child, evidence) for child in node.children),
    )
