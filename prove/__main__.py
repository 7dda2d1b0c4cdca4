"""`python -m prove [--deep] [--minutes N] [--only states|faults]`: explores, tells what, and exits 1 on a violation."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from multiprocessing import Pool

from prove import phases
from prove.campaign import SETTINGS, WITH_FOUR, WITH_TWO_GROUPS, Case, cases, world_cases
from prove.explore import Explored, Found, explore
from prove.phase_faults import FAULTS as PHASE_FAULTS
from prove.phase_faults import Fault as PhaseFault
from prove.planted import FAULTS
from prove.shapes import Setting, Shape
from prove.worlds import WORLDS, explore_worlds

MOST_STATES_FOR_FAULTS = 4000


Told = tuple[str, Explored, float]
"""Of one loop: the setting, what was found, and how long it took."""


def _explore(given: tuple[Case, float]) -> Told | None:
    """None if the time is up: the loop is not begun with."""
    case, deadline = given
    began = time.monotonic()
    return (case.name, explore(case.shape, case.setting), time.monotonic() - began) if began < deadline else None


def _explore_worlds(given: tuple[Shape, Setting, float]) -> Told | None:
    shape, setting, deadline = given
    began = time.monotonic()
    name = next(name for name, one in WORLDS.items() if one == setting)
    return (name, explore_worlds(shape, setting), time.monotonic() - began) if began < deadline else None


def _find(number: int) -> tuple[int, Found | None]:
    """The first violation that a planted fault leads to."""
    return number, FAULTS[number].find(MOST_STATES_FOR_FAULTS)


def _show(found: Found) -> None:
    print(f"\nVIOLATION  {found.shape}\n           {found.setting}")
    for number, action in enumerate(found.trace, 1):
        print(f"  {number:3}. {action}")
    for broken in found.broken:
        print(f"  => {broken}")


def _tell(results: Iterable[Told | None], names: list[str]) -> Explored:
    every = {name: Explored(found=[]) for name in names}
    seconds = dict.fromkeys(names, 0.0)
    left_out = 0
    for told in results:
        if told is None:
            left_out += 1
            continue
        name, explored, took = told
        every[name].add(explored)
        seconds[name] += took
        for found in explored.found:
            _show(found)
    print(f"{'setting':38}{'loops':>8}{'states':>11}{'steps':>11}{'seconds':>9}{'violations':>12}")
    total = Explored(found=[])
    for name in names:
        one = every[name]
        print(f"{name:38}{one.loops:8,}{one.states:11,}{one.steps:11,}{seconds[name]:9.0f}{len(one.found):12}")
        total.add(one)
    print(f"{'in all':38}{total.loops:8,}{total.states:11,}{total.steps:11,}{'':9}{len(total.found):12}")
    print(f"{left_out:,} loops were left out: the time was up\n" if left_out else "")
    return total


def _prove(*, deep: bool, minutes: float) -> bool:
    size = 3 + deep
    print(f"Every graph of up to {size} atoms in every setting (of up to {size - 1} where all of it grows);")
    print(f"of four atoms, not decomposed, every one in: {'; '.join(sorted(WITH_FOUR))};")
    print(f"those with two groups in: {'; '.join(sorted(WITH_TWO_GROUPS))}.")
    print("On each path one redirect, with three kinds of correction; four kinds of proposals. If not said otherwise:")
    print("  " + ", ".join(repr(Setting())[8:-1].split(", ")[:10]))
    for name, setting in SETTINGS.items():
        print(f"  {name}: {setting}")
    print()
    began = time.monotonic()
    deadline = began + 60 * minutes
    every = sorted(cases(deep=deep), key=lambda case: case.shape.size)  # if time runs out, it does with the largest
    with Pool(os.cpu_count()) as pool:
        print("Fixed outcomes, in every combination: the loop succeeds exactly if some combination of choices does.")
        half = began + 30 * minutes
        given = ((shape, setting, half) for setting, shape in world_cases(deep=deep))
        names = list(WORLDS)
        worlds = _tell(pool.imap_unordered(_explore_worlds, given), names)
        print("Every outcome:")
        total = _tell(pool.imap_unordered(_explore, ((case, deadline) for case in every)), list(SETTINGS))
    total.add(worlds)
    took = time.monotonic() - began
    print(f"{total.states:,} states in {took:.0f} s, {len(total.found)} violations\n")
    return not total.found


def _prove_faults() -> bool:
    """That the checker would notice."""
    missed = 0
    with Pool(os.cpu_count()) as pool:
        for number, found in pool.imap(_find, range(len(FAULTS))):
            fault = FAULTS[number]
            missed += found is None
            told = f"found after {len(found.trace)} steps: {found.broken[0]}" if found is not None else "NOT FOUND"
            print(f"{fault.paragraph:20} {fault.name:52} {told[:110]}")
    print(f"{len(FAULTS)} faults planted, {len(FAULTS) - missed} found\n")
    return not missed


def _prove_phases() -> bool:
    """The other kind of loop: every path, with small limits."""
    broken = 0
    print(f"{'phase loop':72}{'states':>9}{'steps':>10}{'violations':>12}")
    for setting in phases.SETTINGS:
        explored = phases.explore(setting)
        broken += len(explored.found)
        shown = ", ".join(repr(setting)[8:-1].split(", ")[:5])
        print(f"{shown[:70]:72}{explored.states:9,}{explored.steps:10,}{len(explored.found):12}")
        for found in explored.found:
            print(f"VIOLATION  {' / '.join(found.trace)}: {'; '.join(found.broken)}")
    print()
    return not broken


def _prove_phase_faults() -> bool:
    missed = [fault.name for fault in PHASE_FAULTS if not _is_noticed(fault)]
    print(f"{len(PHASE_FAULTS)} faults planted in the phase loop, {len(PHASE_FAULTS) - len(missed)} found")
    for name in missed:
        print(f"NOT FOUND: {name}")
    return not missed


def _is_noticed(fault: PhaseFault) -> bool:
    with fault.planted():
        return bool(phases.explore(fault.setting).found)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m prove", description=__doc__)
    parser.add_argument("--deep", action="store_true", help="one atom more; takes hours")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no loop after this time; half for each part"
    )
    parser.add_argument("--only", choices=("states", "faults"), help="only explore, or only plant faults")
    given = parser.parse_args()
    results = []
    if given.only != "faults":
        results += [_prove_phases(), _prove(deep=given.deep, minutes=given.minutes)]
    if given.only != "states":
        results += [_prove_phase_faults(), _prove_faults()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
