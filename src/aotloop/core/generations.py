"""Once per generation: did anything get smaller? If not, it is a stall; stalls change the strategy, then end the loop.

| since the last generation ended                                         | then                                    |
| ----------------------------------------------------------------------- | --------------------------------------- |
| fewer unresolved atoms, or an alternative used up, or fewer failing items | progress: no stalls                     |
| atoms were decomposed                                                   | neither                                 |
| … for the second time in a row, with nothing resolved in between        | a stall, and those parts are withdrawn  |
| anything else                                                           | a stall                                 |
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.core.blame import free_what_is_out_of_order
from aotloop.core.board import Board
from aotloop.core.effects import Effect, Withdrawn
from aotloop.core.events import GenerationBegan, GenerationEnded
from aotloop.core.model import Generation
from aotloop.core.removal import take_out
from aotloop.core.surrender import give_up_what_stalls


def begin_generation(board: Board, event: GenerationBegan) -> list[Effect]:
    control = board.loop.control
    if not event.again:
        board.loop.control = replace(control, iteration=control.iteration + 1)
    return []


def end_generation(board: Board, event: GenerationEnded) -> list[Effect]:
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
    else:
        stalls = loop.control.stall_count + 1
        effects += withdraw(board, past.grew_before + past.grown) if past.grown else []
    has_stalled = stalls > loop.control.stall_count
    loop.control = replace(loop.control, stall_count=stalls, generation=Generation(grew_before=grew_before))
    if has_stalled and not event.is_weighing and stalls == loop.objective.constraints.max_stall_count - 1:
        effects += give_up_what_stalls(board, event.at)
    loop.control = replace(loop.control, prev_pending_count=board.unresolved_count())
    return effects


def _got_smaller(board: Board) -> bool:
    control = board.loop.control
    if control.generation.got_smaller:
        return True
    if control.prev_pending_count < 0:  # the first generation has nothing to be compared with
        return control.generation.resolved > 0 and not control.generation.grown
    return board.unresolved_count() < control.prev_pending_count


def withdraw(board: Board, parents: tuple[str, ...]) -> list[Effect]:
    """Their parts, and the parts of those, are taken out; what depended on a part depends on the whole again."""
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
    parts = tuple(sorted(gone, key=lambda one: board.position[one]))
    take_out(board, set(gone), instead=gone)
    free_what_is_out_of_order(board)
    for parent in kept:
        board.put(replace(board.atoms[parent], whole=True))
    return [Withdrawn(parents=tuple(kept), atoms=parts)] if kept else []
