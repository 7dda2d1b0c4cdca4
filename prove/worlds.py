"""No combination is lost: in a world whose outcomes are fixed, the loop succeeds exactly if some combination does.

In such a world every atom, and the base case, fails or succeeds depending on which choices it rests on. Every such
world is tried, with every order in which the reports can arrive.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, product

import msgspec
from msgspec.structs import replace

from aotloop.core.model import Loop
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.decisions import conduct
from prove.explore import Explored, Found
from prove.oracle import Plain
from prove.shapes import Setting, Shape, constraints_of, in_force, loop_of
from prove.world import AT, NotedRun, fork, key_of, verdict

MOST_ATTEMPTS = 60
"""Within these some combination of up to four atoms is found, if there is one; the rest of the limits is generous."""
FEWER_ATTEMPTS = 10
"""Where no combination works: that nothing is found there needs no long search."""
ENDLESS = {"max_total": MOST_ATTEMPTS, "max_stall": 99, "max_iterations": 99, "max_depth": 0}
PATIENT = Setting(**ENDLESS)  # type: ignore[arg-type]
PARALLEL = Setting(slots=2, **ENDLESS)  # type: ignore[arg-type]
RACING = Setting(slots=3, speculative=True, **ENDLESS)  # type: ignore[arg-type]
COMMANDS = Setting(slots=2, commands=True, **ENDLESS)  # type: ignore[arg-type]
HINTED = Setting(hints=True, patience=3, **ENDLESS)  # type: ignore[arg-type]
PROBED = Setting(probes_pay=True, **ENDLESS)  # type: ignore[arg-type]
HOPELESS = Setting(slots=2, hopeless=2, **ENDLESS)  # type: ignore[arg-type]
WORLDS = {
    "one after the other": PATIENT,
    "two slots": PARALLEL,
    "commands": COMMANDS,
    "with right hints": HINTED,
    "probes that are wrong": PROBED,
    "with an end to hope": HOPELESS,
    "races": RACING,
}

Combination = tuple[tuple[str, str], ...]


class World(msgspec.Struct, frozen=True):
    bad: tuple[tuple[str, frozenset[Combination]], ...]
    """For every atom, and "" for the base case, the combinations it fails with."""

    def __str__(self) -> str:
        told = [
            f"{name or 'the base case'} fails with {' or '.join(map(_described, sorted(combos)))}"
            for name, combos in self.bad
            if combos
        ]
        return "; ".join(told) or "all goes well"


def _described(combination: Combination) -> str:
    return "+".join(choice for _, choice in combination) or "anything"


def worlds(loop: Loop) -> Iterator[World]:
    plain = Plain(loop)
    atoms = [one for one in plain.atoms if not plain.parts(one)]
    fates = [[(one, bad) for bad in _subsets(_combinations(loop, one))] for one in (*atoms, "")]
    for bad in product(*fates):
        yield World(bad)


def _subsets(items: list) -> list[frozenset]:  # type: ignore[type-arg]
    return [frozenset(one) for one in chain.from_iterable(combinations(items, n) for n in range(len(items) + 1))]


def _combinations(loop: Loop, atom: str) -> list[Combination]:
    """All that an atom can rest on."""
    return sorted({_rests_on(Plain(tried), atom) for tried in _selections(loop)})


def _selections(loop: Loop) -> Iterator[Loop]:
    for chosen in product(*(group.choices for group in loop.or_groups.values())):
        tried = loop.snapshot()
        for (name, group), choice in zip(loop.or_groups.items(), chosen, strict=True):
            tried.or_groups[name] = replace(group, selected=choice)
        yield tried


def _rests_on(plain: Plain, atom: str) -> Combination:
    """The choices among all it needs, however indirectly; the base case rests on all that are required."""
    found: set[tuple[str, str]] = set()
    open_ids = list(plain.needs(atom)) if atom else [one for one in plain.atoms if plain.is_required(one)]
    seen: set[str] = set()
    while open_ids:
        one = open_ids.pop()
        for name, group in plain.loop.or_groups.items():
            if one in group.choices:
                one = group.selected
                found.add((name, one))
        if one not in seen:
            seen.add(one)
            open_ids += plain.needs(one)
    return tuple(sorted(found))


def _goes(world: World, loop: Loop, atom: str) -> bool:
    return all(name != atom or _rests_on(Plain(loop), atom) not in bad for name, bad in world.bad)


def _to_blame(world: World, loop: Loop, atom: str) -> tuple[str, ...]:
    """A choice it rests on, with another one instead of which it would go; the first there is."""
    for name, group in loop.or_groups.items():
        for other in group.choices:
            tried = loop.snapshot()
            tried.or_groups[name] = replace(group, selected=other)
            if atom not in group.choices and _goes(world, tried, atom):
                return (group.selected,)
    return ()


def has_solution(world: World, loop: Loop) -> bool:
    for tried in _selections(loop):
        plain = Plain(tried)
        if all(_goes(world, tried, one) for one in ("", *filter(plain.is_required, plain.atoms))):
            return True
    return False


def explore_worlds(shape: Shape, setting: Setting = PATIENT) -> Explored:
    result = Explored(found=[])
    loop = loop_of(shape, constraints_of(setting), setting)
    with in_force(setting):
        for world in worlds(loop):
            result.loops += 1
            _explore(shape, setting, world, result)
            if result.found:
                break
    return result


def _explore(shape: Shape, setting: Setting, world: World, result: Explored) -> None:
    solvable = has_solution(world, loop_of(shape, constraints_of(setting), setting))
    if not solvable:
        setting = replace(setting, max_total=FEWER_ATTEMPTS)
    run = NotedRun(loop_of(shape, constraints_of(setting), setting))
    conduct(run, reports.Began(at=AT))
    level: list[tuple[NotedRun, tuple[str, ...]]] = [(run, ())]
    seen = {key_of(run)}
    while level:
        following = []
        for node, trace in level:
            for name, report in _reports(node, world, setting):
                after = fork(node)
                result.steps += 1
                way = (*trace, name)
                if broken := _step(after, report, solvable=solvable):
                    result.found.append(
                        Found(f"{shape}; {world}", setting, way, (f"no combination is lost: {broken}",))
                    )
                    return
                key = key_of(after)
                if key not in seen:
                    seen.add(key)
                    following += [(after, way)] if not after.finished else []
        level = following
    result.states += len(seen)


def _step(run: NotedRun, report: reports.Report, *, solvable: bool) -> str | None:
    try:
        conduct(run, report)
    except Exception as error:  # noqa: BLE001 - every exception in the machine is a finding
        return f"{type(error).__name__}: {error}"
    ended_as = run.loop.control.stop_reason or "completed"
    if run.finished and (run.loop.control.status == "completed") != solvable:
        return f"solvable: {solvable}, ended as {ended_as}"
    if run.finished and ended_as.startswith("stalled:"):
        return f"it ended as {ended_as}, far from that limit"
    return None


def _reports(run: NotedRun, world: World, setting: Setting) -> Iterator[tuple[str, reports.Report]]:
    """What can come next; what it says is settled by the world. Repairs are claimed to work, which proves nothing.

    A probe says the opposite of what is so: a "no" is no verdict, and a "yes" no success.
    """
    for number, attempt in run.attempts.items():
        if number in run.to_merge:
            continue
        if attempt.role == "probe":
            is_bad = not _goes(world, run.loop, attempt.atom)
            found = reports.ProbeReturned(attempt=number, feasible=is_bad, findings="?", at=AT)
            yield f"{attempt.atom} is probed: {'yes' if is_bad else 'no'}", found
        elif _goes(world, run.loop, attempt.atom):
            yield f"{attempt.atom} is done", reports.WorkDone(attempt=number, summary="done", at=AT)
        else:
            blamed = _to_blame(world, run.loop, attempt.atom) if setting.hints else ()
            yield f"{attempt.atom} fails", reports.WorkFailed(attempt=number, reason="no", because_of=blamed, at=AT)
    if run.merging is not None:
        yield "merged", reports.Merged(attempt=run.merging, at=AT)
    if run.reverting:
        yield "reverted", reports.Reverted(at=AT)
    for atom in run.checking:
        yield f"{atom} is checked", reports.ParentChecked(atom=atom, passed=True, at=AT)
    if run.verifying is not None:
        holds = run.is_all_resolved() and _goes(world, run.loop, "")
        yield f"the base case {'holds' if holds else 'fails'}", verdict(run, {} if holds else {"item 1": "no"})
