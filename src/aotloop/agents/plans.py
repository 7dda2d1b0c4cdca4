"""What a planner answers: questions to the person, or else a proposal. Nothing counts before the person agrees."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from aotloop.agents.answer import Answer

CheckKind = Literal["command", "not_command", "file", "not_file", "assertion", "quality"]


class AskedQuestion(Answer, frozen=True, kw_only=True):
    question: Annotated[str, Meta(description="about what is to be achieved, or when it is; never about how")]
    choices: Annotated[tuple[str, ...], Meta(description="likely answers, the best guess first; may be empty")] = ()


class PlannedCheck(Answer, frozen=True, kw_only=True):
    item: Annotated[str, Meta(description="what holds when this passes, in a few words")]
    type: CheckKind
    value: Annotated[str, Meta(description="a command, a path or glob, or a sentence to be judged")]


class PlannedAtom(Answer, frozen=True, kw_only=True):
    name: Annotated[str, Meta(description="a short name by which others depend on it")]
    description: Annotated[str, Meta(description="what is to be done, for somebody who knows only this")]
    depends_on: Annotated[tuple[str, ...], Meta(description="names of those it builds on")] = ()
    or_group: Annotated[str | None, Meta(description="the same word for alternatives of which one is enough")] = None
    touches: Annotated[tuple[str, ...], Meta(description="globs of what it changes, if that is sure")] = ()
    estimate: Annotated[float | None, Meta(description="minutes of work")] = None
    covers: Annotated[
        tuple[str, ...], Meta(description="items of the checklist that hold once it is done; they are its check")
    ] = ()


class Plan(Answer, frozen=True, kw_only=True):
    goal: Annotated[str, Meta(description="one sentence")]
    background_intent: Annotated[str, Meta(description="why it is wanted")]
    deliverables: Annotated[str, Meta(description="what will be there in the end")]
    definition_of_done: Annotated[str, Meta(description="when it is complete, in words")]
    checklist: Annotated[tuple[PlannedCheck, ...], Meta(description="how a machine sees that it is complete")]
    protect: Annotated[tuple[str, ...], Meta(description="globs of what nobody may change")] = ()
    atoms: tuple[PlannedAtom, ...] = ()


class PlannerResult(Answer, frozen=True, kw_only=True):
    questions: Annotated[tuple[AskedQuestion, ...], Meta(description="what only the person can say; else empty")]
    plan: Annotated[Plan | None, Meta(description="if nothing is left to be asked: the proposal; else null")] = None
