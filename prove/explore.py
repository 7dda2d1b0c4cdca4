"""Exploration: visits every state that a loop can reach, each once, and judges every step on the way."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.core.scheduler import reports
from aotloop.core.scheduler.decisions import conduct
from prove.ghost import OF_ONE_STEP, Ghost, beginning, watch
from prove.laws import violations
from prove.shapes import Setting, Shape, constraints_of, in_force, loop_of
from prove.step import Step, state_before
from prove.world import AT, Action, NotedRun, actions, fork, key_of


class Found(msgspec.Struct, frozen=True):
    """A violation, and the shortest way to it."""

    shape: str
    setting: Setting
    trace: tuple[str, ...]
    broken: tuple[str, ...]


class Explored(msgspec.Struct):
    loops: int = 0
    states: int = 0
    steps: int = 0
    found: list[Found] = []

    def add(self, other: Explored) -> None:
        self.loops += other.loops
        self.states += other.states
        self.steps += other.steps
        self.found = self.found + other.found


class _Node(msgspec.Struct):
    run: NotedRun
    ghost: Ghost
    may_redirect: bool
    trace: tuple[str, ...]


def explore(shape: Shape, setting: Setting, *, stop_at_first: bool = True, most_states: int = 10**9) -> Explored:
    """Breadth first, so that the first violation found is one of the shortest."""
    result = Explored(loops=1, found=[])
    with in_force(setting):
        level = [_beginning(shape, setting, result)]
        seen = {_key(node) for node in level}
        while level and not (result.found and stop_at_first) and len(seen) < most_states:
            level = list(_next_level(level, seen, shape, setting, result))
    result.states = len(seen)
    return result


def _beginning(shape: Shape, setting: Setting, result: Explored) -> _Node:
    run = NotedRun(loop_of(shape, constraints_of(setting), setting))
    start = _Node(run, beginning(run.loop), setting.people, ())
    return _step(start, Action("the loop begins", reports.Began(at=AT)), shape, setting, result)


def _next_level(
    level: list[_Node], seen: set[object], shape: Shape, setting: Setting, result: Explored
) -> Iterator[_Node]:
    for node in level:
        for action in actions(node.run, setting, may_redirect=node.may_redirect):
            following = _step(node, action, shape, setting, result)
            key = _key(following)
            if key not in seen:
                seen.add(key)
                if not following.run.finished:
                    yield following


def _step(node: _Node, action: Action, shape: Shape, setting: Setting, result: Explored) -> _Node:
    run = fork(node.run)
    before = state_before(run)
    trace = (*node.trace, action.name)
    result.steps += 1
    try:
        if isinstance(action.report, reports.OfAttempt) and (attempt := run.find(action.report.attempt)) is not None:
            run.last_began = attempt.merges
        effects = conduct(run, action.report)
        ghost = watch(node.ghost, run, before.loop, action, effects)
        broken = violations(Step(before, action, effects, run, ghost, setting, node.ghost.landed))
    except Exception as error:  # noqa: BLE001 - every exception in the machine is a finding
        effects, ghost, broken = [], node.ghost, [f"{type(error).__name__}: {error}"]
        run.finished = True
    if broken:
        result.found.append(Found(str(shape), setting, trace, tuple(broken)))
    is_redirect = action.name == "a person redirects it"
    return _Node(run, ghost, node.may_redirect and not is_redirect, trace)


def _key(node: _Node) -> object:
    """Members are named by their atoms: numbers differ from path to path."""
    members = tuple(node.run.attempts[one].atom for one in sorted(node.ghost.members & set(node.run.attempts)))
    ghost = msgspec.structs.replace(node.ghost, members=frozenset(), **OF_ONE_STEP)
    return key_of(node.run), ghost, members, node.may_redirect
