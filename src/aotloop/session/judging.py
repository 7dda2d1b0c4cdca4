"""Who decides in a session what no program can: nobody has to be loaded where there is nothing of the kind."""

from __future__ import annotations

from aotloop.app import JudgeFor
from aotloop.core.checklist import JUDGED, base_case_tree, leaves
from aotloop.statefile.store import Store


def judge_of(store: Store) -> JudgeFor | None:
    objective = store.load().objective
    if not any(leaf.check.type in JUDGED for leaf in leaves(base_case_tree(objective.base_case))):
        return None
    from aotloop.session.said import judge_in_session  # noqa: PLC0415 - it takes longer to load than most checks run

    return judge_in_session(store, objective)
