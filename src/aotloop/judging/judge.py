"""An agent as judge: of exactly the files that were there when it was called, which it cannot change."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.agents.contract import Assignment, Judged, Outcome, Scored
from aotloop.agents.results import schema
from aotloop.agents.roles import Role
from aotloop.agents.wording import one_line
from aotloop.judging.asking import GRACE, Asked, Cancelled, Juror, ask
from aotloop.judging.cases import Case
from aotloop.judging.judgements import assertion_judged, quality_judged
from aotloop.judging.keys import key_of
from aotloop.judging.places import places_in
from aotloop.judging.prompts import ROLES, write_judging_prompt
from aotloop.judging.sites import Site
from aotloop.judging.trees import scope_of
from aotloop.trust import votes
from aotloop.verify.cancellation import Cancellation
from aotloop.verify.judge import Judgement, Question

_Vote = Judged | Scored
_SHOWN = 5
_LONGEST_NAME = 100


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
        key = key_of(self._case, leaf, votes=self._jury.votes)
        try:
            with self._case.sites().visit(self._case.root, tree, cancellation) as site:
                outcomes = self._ask(site, leaf, files, allowance, cancellation, key)
                found = self._found_at(site, leaf, outcomes)
        except Cancelled:  # votes that were given by then are known when it is asked again
            return Judgement(passed=None, evidence="cancelled")
        if found.passed is None:  # the same votes would leave it open again
            votes.forget(key)
        return found

    def _found_at(self, site: Site, leaf: Question, outcomes: list[Outcome]) -> Judgement:
        if changes := site.changes():
            return _void(site, changes)
        if leaf.check.type == "assertion":
            return assertion_judged(outcomes[0])
        return quality_judged(leaf.check, outcomes, lambda text: places_in(text, self._case.tree.files, site.cwd))

    def _ask(
        self,
        site: Site,
        leaf: Question,
        files: list[str],
        allowance: float | None,
        cancellation: Cancellation,
        key: str,
    ) -> list[Outcome]:
        jury, role = self._jury, ROLES[leaf.check.type]
        wanted = jury.votes if role == "judge" else 1
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
                max_cost_usd=allowance / wanted if allowance is not None else None,
                confinement=site.confinement.opened(scratch) if site.confinement is not None else None,
            )

        def given(vote: int, outcome: Outcome) -> None:
            if isinstance(outcome, _Vote) and not site.changes():
                with suppress(UnicodeEncodeError):
                    votes.remember(key, vote, msgspec.json.encode(outcome))

        asked = Asked(
            jurors=jurors,
            assignment=assignment,
            votes=wanted,
            known=_recalled(key),
            on_spent=jury.on_spent,
            on_vote=given,
        )
        return ask(asked, cancellation)


def _recalled(key: str) -> Mapping[int, Outcome]:
    """Votes that were given to somebody who died, or was called off, before all were in."""
    found: dict[int, Outcome] = {}
    for number, content in votes.recall(key).items():
        with suppress(msgspec.MsgspecError):
            found[number] = msgspec.json.decode(content, type=_Vote)
    return found


def _void(site: Site, changes: tuple[str, ...]) -> Judgement:
    more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    named = ", ".join(one_line(path, _LONGEST_NAME) for path in changes[:_SHOWN]) + more
    if site.is_the_original:
        return Judgement(passed=None, evidence=f"void: while it was judged, files in your folder were changed: {named}")
    return Judgement(passed=None, evidence=f"void: the judge changed files, in its own copy: {named}")
