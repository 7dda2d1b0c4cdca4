"""An agent leads the dialogue: it looks at the project, asks the person questions, and proposes a loop.

The number of rounds is limited: then the agent has to propose, and later a form replaces it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import click
from msgspec.structs import replace

from aotloop.agents.answers.answer_schema import AskedQuestion
from aotloop.agents.prompts.planner_prompt import Talk
from aotloop.agents.roles import WAYS
from aotloop.app.align.draft import Draft, over
from aotloop.app.align.draft_file import write_draft
from aotloop.app.align.planner import Planner, Reply
from aotloop.app.align.planner_proposal import draft_of_proposal
from aotloop.app.align.starting_point import StartingPoint
from aotloop.cli.align.form import Keep, fill_in
from aotloop.cli.align.questions import ask_budget, ask_coverage
from aotloop.cli.align.review import Reviewed, Trial, not_agreed, review
from aotloop.cli.ui.output import faint, heading, mark, tell
from aotloop.cli.ui.prompts import ask
from aotloop.errors import AotError
from aotloop.text.phrases import dollars
from aotloop.text.sanitize import prose

MOST_QUESTION_ROUNDS = 4
MOST_ROUNDS = 12

ANSWER = f'"{WAYS["planner"].deciding_key}":'
"""A line with this text is the agent's answer."""


KeepTalk = Callable[[Draft, Talk], None]
"""Hears the draft and the dialogue after each round, so that Ctrl-C loses nothing."""


def converse(
    planner: Planner, beginning: StartingPoint, trial: Trial, instructions: str | None, keep: KeepTalk
) -> Reviewed:
    """Raises AotError if it is left without an agreement."""
    draft = beginning.draft
    request = beginning.request or draft.goal or _what_is_wanted()
    present = write_draft(draft) if draft != Draft() else ""
    talk = Talk(request=request, present=present, instructions=instructions, answers=beginning.answers)
    keep(draft, talk)
    rounds_of_questions, has_proposed = 0, False
    for _ in range(MOST_ROUNDS):
        reply = _asked(planner, replace(talk, may_ask=rounds_of_questions < MOST_QUESTION_ROUNDS))
        if reply is None:
            break
        if reply.result.questions:
            rounds_of_questions += 1
            answers = tuple((question.question, _answer(question)) for question in reply.result.questions)
            talk = replace(talk, answers=(*talk.answers, *answers))
            keep(draft, talk)
        if reply.result.plan is not None:
            draft = ask_coverage(over(draft, draft_of_proposal(reply.result.plan, draft)), beginning.before)
            draft = draft if has_proposed else ask_budget(draft, beginning.before)
            has_proposed = True
            keep(draft, talk)
            reviewed = review(draft, beginning.before, trial, by_words=True)
            if reviewed.wish is None:
                return reviewed
            draft = reviewed.draft
            talk = replace(talk, proposal=write_draft(draft), wish=reviewed.wish)
            keep(draft, talk)
    else:
        tell(f"The dialogue took {MOST_ROUNDS} rounds. A form asks for the rest.", err=True)
    return by_form(replace(beginning, draft=draft, request=request), trial, lambda filled: keep(filled, talk))


def by_form(beginning: StartingPoint, trial: Trial, keep: Keep) -> Reviewed:
    """Without an agent, or when it is of no use."""
    draft = beginning.draft
    if beginning.request and not draft.goal:
        draft = replace(draft, goal=prose(beginning.request.split("\n")[0]))
    while True:
        draft = fill_in(draft, beginning.before, trial.root, keep)
        reviewed = review(draft, beginning.before, trial, by_words=False)
        if reviewed.wish is None:
            return reviewed
        draft = reviewed.draft
        keep(draft)


def _what_is_wanted() -> str:
    tell("What do you want to achieve? Use your own words.", style=heading, err=True)
    while not (words := ask(">")):
        tell("Write at least one sentence.", err=True)
    return words


def _asked(planner: Planner, talk: Talk) -> Reply | None:
    """None: the person prefers the form."""
    while True:
        tell(f"{planner.name} looks at the project …", style=faint, err=True)
        began = time.monotonic()
        try:
            reply = planner.ask(talk, _shown)
        except AotError as error:
            tell(prose(f"{error.message}"), head=f"{mark(False)} ", err=True)
        else:
            _tell_spent(reply, time.monotonic() - began)
            return reply
        answer = ask("Try again [t], fill in a form instead [f], or leave [q]?").lower()[:1]
        if answer == "q":
            raise not_agreed()
        if answer == "f":
            return None


def _shown(line: str) -> None:
    """Shows what an agent prints while it works; the answer itself is shown later as questions or a proposal."""
    words = prose(line)
    if words and ANSWER not in words:
        click.echo(faint(f"  │ {words[:200]}"), err=True)


def _tell_spent(reply: Reply, seconds: float) -> None:
    cost = f", {dollars(reply.cost_usd)}" if reply.cost_usd is not None and reply.cost_usd >= 0.005 else ""
    tell(f"{seconds:.0f} s{cost}", head="  ", style=faint, err=True)
    for note in reply.notes:
        tell(prose(note), head=f"{mark(None)} ", err=True)
    if reply.changed:
        names = prose(", ".join(reply.changed[:8]))
        tell(f"These files in your checkout changed while the agent looked: {names}", head=f"{mark(False)} ", err=True)


def _answer(asked: AskedQuestion) -> str:
    """The choice with this number, or the person's own words; "": the agent decides."""
    tell(prose(asked.question), style=heading, err=True)
    for number, choice in enumerate(asked.choices, 1):
        tell(prose(choice), head=f"  {number}  ", err=True)
    how = "number, or your own words; Enter: the agent decides" if asked.choices else "Enter: the agent decides"
    answer = ask(f"({how}) >")
    if answer.isdecimal() and 1 <= int(answer) <= len(asked.choices):
        return asked.choices[int(answer) - 1]
    return answer
