"""An agent as judge: it judges exactly the files at the moment of the call, and cannot change them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec

from aotloop.agents.answers.answer_schema import schema
from aotloop.agents.contract import Assignment, Judged, Outcome, Scored
from aotloop.agents.roles import Role
from aotloop.checks.judge import Judgement, Question
from aotloop.execution.budget import Budget
from aotloop.execution.judges.ballot import GRACE, Asked, Cancelled, Juror, ask
from aotloop.execution.judges.case import Case, Site, scope_of
from aotloop.execution.judges.judge_prompt import ROLES, write_judging_prompt
from aotloop.execution.judges.judgement import assertion_judged, places_in, quality_judged
from aotloop.execution.judges.memory import key_of
from aotloop.fence.agent_folder import agent_folder
from aotloop.process.cancellation import Cancellation
from aotloop.text.phrases import listed
from aotloop.text.shorten import one_line
from aotloop.trust import judgements as votes

_Vote = Judged | Scored
_LONGEST_NAME = 100


class Jury(msgspec.Struct, frozen=True, kw_only=True):
    jurors: Callable[[Role], Sequence[Juror]]
    """For a role, `judge` or `verifier`: the agent, and the agents that may replace it. Raises Unavailable."""
    run_id: str
    scratch: Callable[[str], Path]
    """A new folder for each question about the item of this name."""
    votes: int = 1
    """Only for quality. An assertion waits for a person in any case."""
    budget: Budget
    """Pays for each item."""
    instructions: Callable[[Role], str | None] = lambda _: None
    """Instructions for a role in addition to its rules."""
    on_spent: Callable[[Juror, Outcome], None] = lambda _, __: None
    """Called for each answer that may have cost something; from any thread."""


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
        with self._jury.budget.share_for_judge(lambda: cancellation.cancelled) as share:
            if share is not None and share <= 0:
                return Judgement(passed=None, evidence="not judged: there is no money left for it")
            return self._judged(leaf, files, share, cancellation)

    def _judged(
        self, leaf: Question, files: list[str], allowance: float | None, cancellation: Cancellation
    ) -> Judgement:
        tree, key = self._case.tree, key_of(self._case, leaf, votes=self._jury.votes)
        try:
            with self._case.sites().visit(self._case.root, tree, cancellation) as site:
                outcomes = self._ask(site, leaf, files, allowance, cancellation, key)
                found = self._found_at(site, leaf, outcomes)
        except Cancelled:  # votes that were given by then are known at the next call
            return Judgement(passed=None, evidence="cancelled")
        if found.passed is None:  # the same votes would leave it open again
            votes.forget_votes(key)
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
        jury, role, folders = self._jury, ROLES[leaf.check.type], ExitStack()
        wanted = jury.votes if role == "judge" else 1
        jurors = jury.jurors(role)
        most_usd = allowance / wanted if allowance is not None else None
        common = self._assignment(site, leaf, files, role, most_usd)

        def assignment(juror: Juror, vote: int) -> Assignment:
            scratch = folders.enter_context(agent_folder())
            confinement = site.confinement.opened(scratch) if site.confinement is not None else None
            own = {"attempt": vote, "scratch": scratch, "records": jury.scratch(common.atom), "limits": juror.limits}
            return msgspec.structs.replace(common, **own, confinement=confinement)

        def given(vote: int, outcome: Outcome) -> None:
            if isinstance(outcome, _Vote) and not site.changes():
                with suppress(UnicodeEncodeError):
                    votes.remember_votes(key, vote, msgspec.json.encode(outcome))

        asked = Asked(
            jurors=jurors,
            assignment=assignment,
            votes=wanted,
            known=_recalled(key),
            on_spent=jury.on_spent,
            on_vote=given,
        )
        with folders:
            return ask(asked, cancellation)

    def _assignment(
        self, site: Site, leaf: Question, files: list[str], role: Role, most_usd: float | None
    ) -> Assignment:
        """What the assignments of all jurors have in common."""
        jury = self._jury
        return Assignment(
            role=role,
            atom=one_line(leaf.path or leaf.name, _LONGEST_NAME),
            attempt=0,
            run_id=jury.run_id,
            epoch=0,
            cwd=site.cwd,
            state_file=Path(os.devnull),  # the real file holds claims of the agents that are judged
            scratch=Path(os.devnull),
            prompt=write_judging_prompt(leaf, self._case.objective, files, jury.instructions(role)),
            grace=GRACE,
            result_schema=schema(role),
            max_cost_usd=most_usd,
        )


def _recalled(key: str) -> Mapping[int, Outcome]:
    """Votes from an earlier call that was cancelled or died before all votes were in."""
    found: dict[int, Outcome] = {}
    for number, content in votes.recall_votes(key).items():
        with suppress(msgspec.MsgspecError):
            found[number] = msgspec.json.decode(content, type=_Vote)
    return found


def _void(site: Site, changes: tuple[str, ...]) -> Judgement:
    named = listed([one_line(path, _LONGEST_NAME) for path in changes])
    if site.is_the_original:
        return Judgement(passed=None, evidence=f"void: while it was judged, files in your folder were changed: {named}")
    return Judgement(passed=None, evidence=f"void: the judge changed files, in its own copy: {named}")
