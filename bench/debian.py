"""A work graph of any size from this machine's own package lists: packages are atoms, alternatives are OR groups.

Every Debian has such lists (`apt-cache dumpavail`, else the installed packages). The graph has what made-up graphs
lack: hubs with thousands of dependents, long chains, and descriptions that people wrote.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from aotloop.core.model import Atom, BaseCase, Constraints, Control, Loop, Objective, OrGroup
from aotloop.statefile.yaml import emitter

INSTALLED = Path("/var/lib/dpkg/status")
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*")
_PRIORITIES = ("required", "important", "standard")


class Package(msgspec.Struct, frozen=True):
    name: str
    description: str
    needs: tuple[tuple[str, ...], ...]
    """Each need is met by one of some packages."""
    rank: int


def packages() -> dict[str, Package]:
    found: dict[str, Package] = {}
    for paragraph in _lists().split("\n\n"):
        lines = re.sub(r"\n[ \t]+", " ", paragraph).split("\n")
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        if name := fields.get("Package"):
            needs = ", ".join(fields[key] for key in ("Pre-Depends", "Depends") if key in fields)
            priority = fields.get("Priority", "")
            rank = _PRIORITIES.index(priority) if priority in _PRIORITIES else len(_PRIORITIES)
            found.setdefault(name, Package(name, fields.get("Description", name)[:200], tuple(_needs(needs)), rank))
    return found


def _lists() -> str:
    """All known packages if apt has lists, else the installed ones."""
    if shutil.which("apt-cache") is not None:
        done = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=False)
        if done.stdout.strip():
            return done.stdout
    if not INSTALLED.exists():
        raise FileNotFoundError("this machine has no Debian package lists")
    return INSTALLED.read_text(encoding="utf-8", errors="replace")


def _needs(field: str) -> Iterator[tuple[str, ...]]:
    for need in filter(None, map(str.strip, field.split(","))):
        names = [found[0] for part in need.split("|") if (found := _NAME.match(part.strip()))]
        yield tuple(dict.fromkeys(names))


def graph(known: dict[str, Package], size: int, *, slots: int = 3) -> Loop:
    """The first `size` packages, the important ones and what they need first. Cycles are cut where they close."""
    chosen = _chosen(known, size)
    groups = _groups(known, chosen)
    grouped = {name: group for group, members in groups.items() for name in members}
    unit = {name: grouped.get(name, name) for name in chosen}
    order = _in_order(known, chosen, unit)
    position = {name: number for number, name in enumerate(order)}
    atoms = []
    for name in sorted(chosen, key=lambda one: position[unit[one]]):
        mine = position[unit[name]]
        needs = (one for one in _needed(known[name], chosen) if position[unit[one]] < mine)
        atoms.append(
            Atom(
                id=name,
                description=known[name].description,
                status="pending",
                depends_on=tuple(dict.fromkeys(needs)),
                or_group=grouped.get(name),
                run="exit 0",
                parallel=True,
            )
        )
    atoms.append(Atom(id="done", description="Say so", status="pending", depends_on=(atoms[-1].id,), run="touch done"))
    choices = {group: OrGroup(choices=members, selected=members[0]) for group, members in groups.items()}
    return _loop(atoms, choices, slots)


def _chosen(known: dict[str, Package], size: int) -> set[str]:
    chosen: set[str] = set()
    for first in sorted(known, key=lambda name: (known[name].rank, name)):
        waiting = [first]
        while waiting and len(chosen) < size:
            name = waiting.pop()
            if name in known and name not in chosen:
                chosen.add(name)
                waiting += [one for need in known[name].needs for one in need]
    return chosen


def _needed(package: Package, chosen: set[str]) -> Iterator[str]:
    for need in package.needs:
        if inside := [name for name in need if name in chosen and name != package.name]:
            yield inside[0]


def _groups(known: dict[str, Package], chosen: set[str]) -> dict[str, tuple[str, ...]]:
    """Alternatives that are not yet in another group."""
    groups: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    for name in sorted(chosen):
        for need in known[name].needs:
            members = tuple(one for one in need if one in chosen and one not in taken and one != name)
            if len(members) > 1:
                groups[f"or-{len(groups) + 1}"] = members
                taken.update(members)
    return groups


def _in_order(known: dict[str, Package], chosen: set[str], unit: dict[str, str]) -> list[str]:
    """Every package or group behind what it needs, as far as there is no cycle."""
    needs: dict[str, dict[str, None]] = {}
    for name in sorted(chosen):
        own = needs.setdefault(unit[name], {})
        own.update(dict.fromkeys(unit[one] for one in _needed(known[name], chosen)))
    order: dict[str, None] = {}
    entered: set[str] = set()
    for start, first in needs.items():
        path = [(start, iter(first))] if start not in entered else []
        entered.add(start)
        while path:
            _, rest = path[-1]
            following = next((one for one in rest if one not in entered), None)
            if following is None:
                order[path.pop()[0]] = None
            else:
                entered.add(following)
                path.append((following, iter(needs[following])))
        order.setdefault(start)
    return list(order)


def _loop(atoms: list[Atom], groups: dict[str, OrGroup], slots: int) -> Loop:
    return Loop(
        objective=Objective(
            goal="Everything is installed",
            base_case=BaseCase(type="file", value="done"),
            background_intent="To know what size costs",
            deliverables="Figures",
            definition_of_done="They were measured",
            constraints=Constraints(max_iterations=10**6, max_parallel_agents=slots),
        ),
        control=Control(
            status="pending",
            iteration=0,
            stall_count=0,
            prev_pending_count=0,
            stop_requested=False,
            redirect_requested=False,
        ),
        atoms=atoms,
        or_groups=groups,
    )


def text_of(loop: Loop) -> str:
    return f"---\n{emitter.block(emitter.to_data(loop), 0)}---\n\nInstall everything.\n"


if __name__ == "__main__":
    sys.stdout.write(text_of(graph(packages(), int(sys.argv[1]))))
