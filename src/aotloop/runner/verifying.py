"""What is judged for the loop as a whole: the base case, and decomposed atoms that have a check."""

from __future__ import annotations

from aotloop.core.conduct import reports
from aotloop.core.model import Atom, Objective
from aotloop.runner import news
from aotloop.runner.clock import now
from aotloop.runner.ledger import Item
from aotloop.runner.means import Means


class Verifying:
    def __init__(self, means: Means) -> None:
        self._means = means
        self._is_first = True

    async def base_case(self, number: int, objective: Objective) -> list[Item]:
        tell = self._means.tell
        tell(news.Verifying(at=now()))
        judged = await self._means.checks.base_case(objective, self._means.places.head)
        verdict = judged.verdict
        tell(news.Verified(at=now(), passed=verdict.passed, undecided=verdict.undecided, failing=judged.evidence))
        for item, why in judged.waiting.items() if verdict.undecided else ():
            tell(news.Warned(at=now(), text=f"undecided: {item}: {why}"))
        if self._is_before_work() and judged.holding and not verdict.passed:
            held = ", ".join(judged.holding)
            tell(news.Warned(at=now(), text=f"already holds before any work, so it may prove nothing: {held}"))
        self._is_first = False
        return [reports.Verified(at=now(), number=number, verdict=verdict, evidence=judged.evidence)]

    def _is_before_work(self) -> bool:
        """What an earlier run has done may well hold already."""
        return self._is_first and all(atom.status != "resolved" for atom in self._means.run.loop.atoms)

    async def parent(self, atom: Atom) -> list[Item]:
        self._means.tell(news.Verifying(at=now(), atom=atom.id))
        checks = self._means.checks
        problem = await checks.of_atom(atom, checks.root, self._means.run.loop.objective)
        failing = {atom.id: problem} if problem is not None else {}
        self._means.tell(news.Verified(at=now(), atom=atom.id, passed=problem is None, failing=failing))
        return [reports.ParentChecked(at=now(), atom=atom.id, passed=problem is None, reason=problem or "")]
