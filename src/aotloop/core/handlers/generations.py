"""Generations: at the end of each one, did anything get smaller? If not, it is a stall; stalls end the loop.

| since the last generation ended                                       | then                                   |
| --------------------------------------------------------------------- | -------------------------------------- |
| fewer unresolved atoms, or failing items, than ever; or a new choice  | progress: no stalls                    |
| atoms were decomposed                                                 | neither                                |
| … for the second time in a row, with nothing resolved in between      | a stall, and those parts are withdrawn |
| an atom is ready that failed no more often than bad luck explains     | neither                                |
| anything else                                                         | a stall                                |

A generation lasts so many attempts that bad luck does not explain one without progress (aotloop.core.policy.turns).
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.effects import Effect, Withdrawn
from aotloop.core.events import GenerationBegan, GenerationEnded
from aotloop.core.graph.board import Board
from aotloop.core.graph.units import is_out_of_patience, least_outcomes
from aotloop.core.handlers.backtracking import free_what_is_out_of_order
from aotloop.core.handlers.decomposition import take_out
from aotloop.core.model import Generation
from aotloop.core.policy.progress import note_growth


def is_begun(generation: Generation) -> bool:
    """The generation has a number and was not judged yet."""
    return generation.least > 0


def lasts(board: Board) -> bool:
    """Whether so few attempts have ended in it that bad luck explains the lack of progress."""
    generation = board.loop.control.generation
    return generation.outcomes < generation.least


def begin_generation(board: Board, _: GenerationBegan) -> list[Effect]:
    control = board.loop.control
    if is_begun(control.generation):
        return []
    least = max(least_outcomes(board, board.unresolved()), 1)
    generation = replace(control.generation, least=least)
    board.loop.control = replace(control, iteration=control.iteration + 1, generation=generation)
    return []


def end_generation(board: Board, _: GenerationEnded) -> list[Effect]:
    loop = board.loop
    past = loop.control.generation
    effects: list[Effect] = []
    grew_before: tuple[str, ...] = ()
    stalls = 0
    if _got_smaller(board):
        pass
    elif past.grown and (past.resolved or not past.grew_before):
        stalls = loop.control.stall_count
        grew_before = () if past.resolved else past.grown
    elif not past.grown and _bad_luck_explains_it(board):
        stalls = loop.control.stall_count
    else:
        stalls = loop.control.stall_count + 1
        effects += withdraw(board, past.grew_before + past.grown) if past.grown else []
    unresolved, fewest = board.unresolved_count(), loop.control.fewest_unresolved
    loop.control = replace(
        loop.control,
        stall_count=stalls,
        generation=Generation(grew_before=grew_before),
        fewest_unresolved=unresolved if fewest is None else min(unresolved, fewest),
        prev_pending_count=unresolved,
    )
    return effects


def _got_smaller(board: Board) -> bool:
    control = board.loop.control
    if control.generation.got_smaller:
        return True
    if control.fewest_unresolved is None:  # there is no number to compare with
        return control.generation.resolved > 0 and not control.generation.grown
    return board.unresolved_count() < control.fewest_unresolved


def _bad_luck_explains_it(board: Board) -> bool:
    """An open atom has not failed more often than its unit may: never, or not often enough."""
    open_atoms = (
        atom_id for atom_id in board.unresolved() if atom_id not in board.children_of and not board.waits_for(atom_id)
    )
    return any(not is_out_of_patience(board, atom_id) for atom_id in open_atoms)


def withdraw(board: Board, parents: tuple[str, ...]) -> list[Effect]:
    """Removes the parts of these atoms, and parts of parts. Dependents of a part depend on the whole atom again."""
    present = [parent for parent in dict.fromkeys(parents) if parent in board.children_of]
    gone: dict[str, str] = {}
    for parent in present:
        for part in board.descendants(parent):
            gone.setdefault(part, parent)
    kept = [parent for parent in present if parent not in gone]
    for part, parent in gone.items():
        whole = parent
        while whole in gone:
            whole = gone[whole]
        gone[part] = whole
    parts = tuple(sorted(gone, key=lambda part: board.position[part]))
    before = board.unresolved_count()
    take_out(board, set(gone), instead=gone)
    note_growth(board.loop, board.unresolved_count() - before)
    free_what_is_out_of_order(board)
    for parent in kept:
        board.put(replace(board.atoms[parent], whole=True))
    return [Withdrawn(parents=tuple(kept), atoms=parts)] if kept else []
