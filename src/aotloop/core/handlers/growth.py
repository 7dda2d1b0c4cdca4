"""Growth of the graph: an atom is added, or decomposed into children. Invalid growth is refused completely."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from aotloop.core.checks.checklist import item_names
from aotloop.core.effects import Added, Effect
from aotloop.core.events import AtomAdded, AtomDecomposed, Event
from aotloop.core.graph.board import Board
from aotloop.core.graph.work_graph import Graph
from aotloop.core.handlers.backtracking import free_what_is_out_of_order
from aotloop.core.handlers.decomposition import free_ids, parts_of
from aotloop.core.invariants import problems_of_atom_terms, problems_of_covers
from aotloop.core.model import Atom, Decomposition, OrGroup
from aotloop.core.policy.progress import count_attempt, count_grown, note_growth
from aotloop.core.transitions import illegal


def add(board: Board, event: AtomAdded) -> list[Effect]:
    return [Added(atoms=(add_atom(board, event),))]


def add_atom(board: Board, event: AtomAdded) -> str:
    atom_id = event.atom if event.atom is not None else next(free_ids(board))
    _refuse_bad_id(board, event, atom_id, event.or_group)
    for needed in event.depends_on:
        if needed not in board.atoms:
            raise illegal(None, event, f"{atom_id} cannot depend on {needed}: there is no such atom")
    atom = Atom(
        id=atom_id,
        description=event.description,
        status="pending",
        depends_on=event.depends_on,
        or_group=event.or_group,
        run=event.run,
        check=event.check,
        covers=event.covers,
        estimate=event.estimate,
    )
    items = item_names(board.loop.objective.base_case) if atom.covers else []
    for problem in (*problems_of_atom_terms(atom, ()), *problems_of_covers(atom, items, ())):
        if problem.level == "error":
            raise illegal(None, event, f"{atom_id}: {problem}")
    groups = {}
    if event.or_group is not None:  # only a choice can come before existing atoms
        groups = {event.or_group: _with_choice(board.loop.or_groups.get(event.or_group), atom_id)}
        _refuse_cycle(board, event, [atom], groups, ())
    board.grow([atom], groups)
    if groups:
        free_what_is_out_of_order(board)
    return atom_id


def decompose(board: Board, event: AtomDecomposed) -> list[Effect]:
    parent = board.atoms.get(event.parent)
    if parent is None:
        raise illegal(None, event, f"there is no atom {event.parent}")
    _refuse_decomposition(board, event, parent)
    children, groups = parts_of(board, event, parent)
    for child in children:
        _refuse_bad_id(board, event, child.id, None)
    ids = tuple(child.id for child in children)
    if len(set(ids)) < len(ids):
        raise illegal(board.loop, event, f"two children have the same id: {', '.join(ids)}", parent.id)
    split = Decomposition(parent=parent.id, children=ids, reason=event.reason)
    if any(child.depends_on for child in event.children):
        _refuse_cycle(board, event, children, groups, (split,))
    if parent.status == "in_progress":
        count_attempt(board.loop)
    before = board.unresolved_count()
    # from now on these fields count failures of the parent's own check
    board.put(replace(parent, status="pending", attempts=0, failures=0, alike=0, partial=False))
    board.loop.bindings.pop(parent.id, None)
    board.grow(children, groups, [split])
    note_growth(board.loop, board.unresolved_count() - before)
    free_what_is_out_of_order(board)
    count_grown(board.loop, parent.id)
    return [Added(atoms=ids)]


def _with_choice(group: OrGroup | None, atom_id: str) -> OrGroup:
    if group is None:
        return OrGroup(choices=(atom_id,), selected=atom_id)
    choices = group.choices if atom_id in group.choices else (*group.choices, atom_id)
    is_given_up = group.selected in group.failed or group.selected in group.blamed
    selected = atom_id if is_given_up and atom_id not in group.failed else group.selected
    return replace(group, choices=choices, selected=selected)


def _refuse_bad_id(graph: Board, event: Event, atom_id: str, or_group: str | None) -> None:
    if not atom_id.strip():
        raise illegal(None, event, "an atom's id may not be blank")
    if atom_id in graph.atoms:
        raise illegal(None, event, f"there is an atom {atom_id} already; the next free id is {next(free_ids(graph))}")
    promised = graph.group_of.get(atom_id, or_group)
    if promised != or_group:
        raise illegal(None, event, f"{atom_id} is named as a choice of {promised}, so it has to be added to that group")


def _refuse_decomposition(graph: Board, event: AtomDecomposed, parent: Atom) -> None:
    limits = graph.loop.objective.constraints
    group = graph.group(parent.id)
    why = None
    if not event.children:
        why = "there are no children"
    elif parent.status == "resolved":
        why = f"{parent.id} is resolved"
    elif parent.id in graph.children_of:
        why = f"{parent.id} was decomposed already, into {', '.join(graph.children_of[parent.id])}"
    elif parent.whole:
        why = f"{parent.id} is done in one piece"
    elif parent.run is not None:
        why = f"{parent.id} is done by a command; a command has no parts"
    elif group is not None and group.speculative:
        why = f"{parent.id} races with other choices of {graph.group_of[parent.id]}; racers are not decomposed"
    elif len(event.children) > limits.max_children:
        why = f"{len(event.children)} children are more than max_children, {limits.max_children}"
    elif graph.depth(parent.id) + 1 > limits.max_depth:
        why = f"{parent.id} is {graph.depth(parent.id)} levels deep; max_depth is {limits.max_depth}"
    if why is not None:
        raise illegal(graph.loop, event, why, parent.id)


def _refuse_cycle(
    board: Board,
    event: Event,
    atoms: Iterable[Atom],
    groups: dict[str, OrGroup],
    decompositions: Iterable[Decomposition],
) -> None:
    grown = board.loop.snapshot()
    grown.atoms.extend(atoms)
    grown.or_groups.update(groups)
    grown.decompositions.extend(decompositions)
    if (cycle := Graph(grown).find_cycle()) is not None:
        raise illegal(None, event, f"that would close a cycle: {' → '.join(cycle)}")
