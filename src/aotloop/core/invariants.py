"""Invariants: rules that every loop must meet (errors), and doubts that a person should know (warnings)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from aotloop.core.checks.checklist import item_names, problems_of_atom_check, problems_of_base_case
from aotloop.core.findings import Finding, Path, error, warning
from aotloop.core.graph.conflict_set import untried
from aotloop.core.graph.work_graph import Graph
from aotloop.core.limits import problem_of_duration, problems_of_constraints
from aotloop.core.model import Atom, Loop, OrGroup

_LOWEST_OF_CONTROL = {
    "iteration": 0,
    "stall_count": 0,
    "prev_pending_count": -1,
    "epoch": 0,
    "tried": 0,
    "won": 0,
    "needed": 0,
    "fewest_unresolved": 0,
    "shares": 1,
}


def findings_of(loop: Loop) -> list[Finding]:
    graph = Graph(loop)
    found = [
        *problems_of_base_case(loop.objective.base_case, ("objective", "base_case")),
        *problems_of_constraints(loop.objective.constraints, ("objective", "constraints")),
        *_control(loop),
        *_atoms(loop, graph),
        *_groups(loop, graph),
        *_decompositions(loop, graph),
        *_bindings(loop, graph),
        *_trail(loop),
    ]
    if (cycle := graph.find_cycle()) is not None:
        shown = " → ".join(_with_group(atom_id, graph) for atom_id in cycle)
        found.append(error(("atoms", graph.position[cycle[0]], "depends_on"), f"dependencies form a cycle: {shown}"))
    return found


def _control(loop: Loop) -> Iterator[Finding]:
    control = loop.control
    for name, lowest in _LOWEST_OF_CONTROL.items():
        value = getattr(control, name)
        if value is not None and value < lowest:
            yield error(("control", name), f"{value} is less than {lowest}")
    if not 0 <= control.cost_usd < float("inf"):
        yield error(("control", "cost_usd"), f"{control.cost_usd:g} is not an amount of money")
    for kind in control.used.__struct_fields__:
        if getattr(control.used, kind) < 0:
            yield error(("control", "used", kind), "is less than 0")
    if control.status == "completed" and control.verdict is not None and not control.verdict.passed:
        yield error(("control", "status"), "is completed, but the last verdict did not pass")
    if control.status == "completed" and control.verdict is None:
        yield warning(("control", "status"), "is completed, but no verdict is recorded")


def _atoms(loop: Loop, graph: Graph) -> Iterator[Finding]:
    if not loop.atoms:
        yield error(("atoms",), "is empty; a loop needs at least one atom", missing=True)
    counts = Counter(atom.id for atom in loop.atoms)
    items = Counter(item_names(loop.objective.base_case))
    for number, atom in enumerate(loop.atoms):
        here: Path = ("atoms", number)
        if not atom.id.strip():
            yield error((*here, "id"), "is blank")
        elif graph.position[atom.id] != number:  # for a duplicate id, the graph knows only the last atom
            yield error((*here, "id"), f"{atom.id} is used {counts[atom.id]} times; ids are unique")
        if not atom.description.strip():
            yield warning((*here, "description"), f"{atom.id} says nothing about what to do")
        yield from _unknown(atom.depends_on, graph, (*here, "depends_on"))
        yield from _membership(atom, loop, here)
        yield from problems_of_atom_terms(atom, here)
        yield from problems_of_covers(atom, items, here)
        if atom.status == "resolved" and atom.id not in loop.bindings:
            yield warning(here, f"{atom.id} is resolved but has no binding; others cannot see its result")
    yield from _ambiguous(loop, items)


def problems_of_covers(atom: Atom, items: Iterable[str], here: Path) -> Iterator[Finding]:
    """`items`: the names of all items of the base case."""
    for item in atom.covers:
        if item not in items:
            yield error((*here, "covers"), f"the base case has no item {item!r}{_near(item, items)}")


def _ambiguous(loop: Loop, items: Counter[str]) -> Iterator[Finding]:
    """Items with the same name only matter for atoms that cover this name."""
    for item in (name for name, count in items.items() if count > 1):
        covering = [atom.id for atom in loop.atoms if item in atom.covers]
        if covering:
            message = f"{items[item]} items are called {item!r}; {', '.join(covering[:8])} must make all of them true"
            yield warning(("objective", "base_case"), f"{message}. Give them names of their own")


def _membership(atom: Atom, loop: Loop, here: Path) -> Iterator[Finding]:
    if atom.or_group is None:
        return
    group = loop.or_groups.get(atom.or_group)
    if group is None:
        yield error((*here, "or_group"), f"there is no group {atom.or_group}{_known(loop.or_groups)}")
    elif atom.id not in group.choices:
        yield error((*here, "or_group"), f"group {atom.or_group} does not list {atom.id} among its choices")


def problems_of_atom_terms(atom: Atom, here: Path) -> Iterator[Finding]:
    if atom.check is not None:
        yield from problems_of_atom_check(atom.check, (*here, "check"))
    if atom.run is not None and not atom.run.strip():
        yield error((*here, "run"), "is blank; give a command or remove the key")
    if atom.estimate is not None and not 0 <= atom.estimate < float("inf"):
        yield error((*here, "estimate"), f"{atom.estimate:g} is not a number of minutes")
    for name in ("attempts", "failures", "alike"):
        if getattr(atom, name) < 0:
            yield error((*here, name), f"{getattr(atom, name)} is less than 0")
    if atom.timeout is not None:
        yield from problem_of_duration(atom.timeout, (*here, "timeout"))


def _groups(loop: Loop, graph: Graph) -> Iterator[Finding]:
    owner: dict[str, str] = {}
    for name, group in loop.or_groups.items():
        here: Path = ("or_groups", name)
        yield from _choices(name, group, graph, here)
        for choice in group.choices:
            if owner.setdefault(choice, name) != name:
                yield error((*here, "choices"), f"{choice} is already a choice of {owner[choice]}")
        for key, choices in (("failed", group.failed), ("blamed", group.blamed)):
            for choice in choices:
                if choice not in group.choices:
                    yield error((*here, key), f"{choice} is not among the choices{_known(group.choices)}")


def _choices(name: str, group: OrGroup, graph: Graph, here: Path) -> Iterator[Finding]:
    if not group.choices:
        yield error((*here, "choices"), "is empty; a group needs at least one choice")
        return
    for choice in sorted({choice for choice in group.choices if group.choices.count(choice) > 1}):
        yield error((*here, "choices"), f"lists {choice} twice")
    for position, choice in enumerate(group.choices):
        atom = graph.atoms.get(choice)
        if atom is None and choice != group.selected:
            yield warning((*here, "choices", position), f"{choice} is not an atom yet")
        elif atom is not None and atom.or_group != name:
            yield error((*here, "choices", position), f"{choice} does not name {name} as its or_group")
    if group.selected not in group.choices:
        yield error((*here, "selected"), f"{group.selected} is not among the choices{_known(group.choices)}")
    elif group.selected not in graph.atoms:
        yield error((*here, "selected"), f"{group.selected} is not an atom")
    elif group.selected in group.failed:
        if not untried(graph, group):
            yield warning((*here, "failed"), "every choice has had its turn; the next start begins another round")
        else:
            yield error((*here, "selected"), f"{group.selected} has failed; select one that has not")


def _decompositions(loop: Loop, graph: Graph) -> Iterator[Finding]:
    for number, split in enumerate(loop.decompositions):
        here: Path = ("decompositions", number)
        if not split.children:
            yield error((*here, "children"), "is empty; a decomposition needs at least one child")
        yield from _unknown((split.parent,), graph, (*here, "parent"))
        yield from _unknown(split.children, graph, (*here, "children"))
        parent = graph.atoms.get(split.parent)
        if parent is None or parent.status == "pending":
            continue
        if parent.status == "in_progress":
            yield error((*here, "parent"), f"{split.parent} is in progress; a decomposed atom is never run")
        elif open_children := [child for child in split.children if not graph.satisfied(child)]:
            shown = ", ".join(open_children)
            yield error((*here, "parent"), f"{split.parent} is resolved before its children {shown}")


def _bindings(loop: Loop, graph: Graph) -> Iterator[Finding]:
    for atom_id in loop.bindings:
        if atom_id not in graph.atoms:
            yield error(("bindings", atom_id), f"there is no atom {atom_id}")
        elif graph.atoms[atom_id].status == "pending":
            yield warning(("bindings", atom_id), f"{atom_id} is pending, yet has a result")


def _trail(loop: Loop) -> Iterator[Finding]:
    for number, entry in enumerate(loop.trail):
        if entry.type == "selection" and (entry.or_group is None or entry.selected is None):
            yield error(("trail", number), "a selection names its or_group and what was selected")
        elif entry.or_group is not None and entry.or_group not in loop.or_groups:
            yield warning(("trail", number, "or_group"), f"there is no group {entry.or_group} any more")


def _unknown(ids: Iterable[str], graph: Graph, path: Path) -> Iterator[Finding]:
    for atom_id in ids:
        if atom_id not in graph.atoms:
            yield error(path, f"there is no atom {atom_id}{_near(atom_id, graph.atoms)}")


def _with_group(atom_id: str, graph: Graph) -> str:
    name = graph.group_of.get(atom_id)
    return f"{atom_id} (of {name})" if name is not None else atom_id


def _known(names: Iterable[str]) -> str:
    listed = ", ".join(list(names)[:8])
    return f" (there are: {listed})" if listed else ""


def _near(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - slow to import, needed only for a mistake

    close = get_close_matches(word, list(known)[:1000], n=1)
    return f"; did you mean {close[0]}?" if close else ""
