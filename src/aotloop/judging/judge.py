"""An agent as judge: of exactly the files that were there when it was called, which it cannot change."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from aotloop.agents.contract import Assignment, Outcome
from aotloop.agents.results import schema
from aotloop.agents.roles import Role
from aotloop.agents.wording import one_line
from aotloop.core.model import Objective
from aotloop.judging.asking import GRACE, Asked, Cancelled, Juror, ask
from aotloop.judging.judgements import assertion_judged, quality_judged
from aotloop.judging.places import places_in
from aotloop.judging.prompts import ROLES, write_judging_prompt
from aotloop.judging.sites import Site, Sites
from aotloop.judging.trees import Tree, scope_of
from aotloop.verify.cancellation import Cancellation
from aotloop.verify.judge import Judgement, Question

_SHOWN = 5
_LONGEST_NAME = 100


class Case:
    """What is judged together: one objective, and the files of one moment, whoever asks first."""

    def __init__(self, objective: Objective, root: Path, sites: Callable[[], Sites]) -> None:
        """`sites` are asked for when something has to be judged, and not before: they may be hard to come by."""
        self.objective = objective
        self.root = root
        self.sites = sites
        self._lock = threading.Lock()
        self._tree: Tree | None = None

    @property
    def tree(self) -> Tree:
        with self._lock:
            if self._tree is None:
                self._tree = self.sites().survey(self.root)
            return self._tree


class Jury(msgspec.Struct, frozen=True, kw_only=True):
    jurors: Callable[[Role], Sequence[Juror]]
    """For a role, `judge` or `verifier`: who is asked, and who in whose place. Raises Unavailable."""
    run_id: str
    scratch: Callable[[str], Path]
    """A folder for each time that somebody is asked, about the item of this name."""
    votes: int = 1
    """On quality. An assertion waits for a person anyway."""
    allowance: Callable[[], float | None] = lambda: None
    """USD that may be spent on one item; None: no limit."""
    instructions: Callable[[Role], str | None] = lambda _: None
    """What a role is told besides its rules."""
    on_spent: Callable[[Juror, Outcome], None] = lambda _, __: None
    """Told of everything that may have cost something; from any thread."""


class AgentJudge:
    def __init__(self, case: Case, jury: Jury) -> None:
        self._case = case
        self._jury = jury

    def judge(self, leaf: Question, cancellation: Cancellation) -> Judgement:
        tree = self._case.tree
        files = tree.in_scope(leaf.check.scope)
        if not files:
            where = f"no file matches its scope: {scope_of(leaf.check)}" if leaf.check.scope else "there are no files"
            return Judgement(passed=False, evidence=f"nothing to judge: {where}")
        allowance = self._jury.allowance()
        if allowance is not None and allowance <= 0:
            return Judgement(passed=None, evidence="not judged: there is no money left for it")
        try:
            with self._case.sites().visit(self._case.root, tree, cancellation) as site:
                outcomes = self._ask(site, leaf, files, allowance, cancellation)
                return self._found_at(site, leaf, outcomes)
        except Cancelled:
            return Judgement(passed=None, evidence="cancelled")

    def _found_at(self, site: Site, leaf: Question, outcomes: list[Outcome]) -> Judgement:
        if changes := site.changes():
            return _void(site, changes)
        if leaf.check.type == "assertion":
            return assertion_judged(outcomes[0])
        return quality_judged(leaf.check, outcomes, lambda text: places_in(text, self._case.tree.files, site.cwd))

    def _ask(
        self, site: Site, leaf: Question, files: list[str], allowance: float | None, cancellation: Cancellation
    ) -> list[Outcome]:
        jury, role = self._jury, ROLES[leaf.check.type]
        votes = jury.votes if role == "judge" else 1
        jurors = jury.jurors(role)
        prompt = write_judging_prompt(leaf, self._case.objective, files, jury.instructions(role))
        name = one_line(leaf.path or leaf.name, _LONGEST_NAME)

        def assignment(juror: Juror, vote: int) -> Assignment:
            scratch = jury.scratch(name)
            return Assignment(
                role=role,
                atom=name,
                attempt=vote,
                run_id=jury.run_id,
                epoch=0,
                cwd=site.cwd,
                state_file=Path(os.devnull),  # in the real one, those who are judged tell how well they did
                scratch=scratch,
                prompt=prompt,
                limits=juror.limits,
                grace=GRACE,
                result_schema=schema(role),
                max_cost_usd=allowance / votes if allowance is not None else None,
                confinement=site.confinement.opened(scratch) if site.confinement is not None else None,
            )

        return ask(Asked(jurors=jurors, assignment=assignment, votes=votes, on_spent=jury.on_spent), cancellation)


def _void(site: Site, changes: tuple[str, ...]) -> Judgement:
    more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    named = ", ".join(one_line(path, _LONGEST_NAME) for path in changes[:_SHOWN]) + more
    if site.is_the_original:
        return Judgement(passed=None, evidence=f"void: while it was judged, files in your folder were changed: {named}")
    return Judgement(passed=None, evidence=f"void: the judge changed files, in its own copy: {named}")
