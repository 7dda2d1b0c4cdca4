"""An agent leads the dialogue: it looks at the project, asks what only the person knows, and proposes.

It does not go on for ever: after some rounds of questions it has to propose, and after some more a form takes over.
"""

from __future__ import annotations

import time

import click
from msgspec.structs import replace

from aotloop.agents.planner_prompts import Talk
from aotloop.agents.plans import AskedQuestion
from aotloop.agents.roles import WAYS
from aotloop.alignment.draft import Draft, over
from aotloop.alignment.files import write_draft
from aotloop.alignment.planning import Planner, Said
from aotloop.alignment.proposals import draft_of_proposal
from aotloop.cli.aligning.beginning import Beginning
from aotloop.cli.aligning.budget import ask_budget
from aotloop.cli.aligning.coverage import ask_coverage
from aotloop.cli.aligning.form import fill_in
from aotloop.cli.aligning.review import Reviewed, Trial, nobody_agreed, review
from aotloop.cli.asking import ask
from aotloop.cli.foreign import prose
from aotloop.cli.output import faint, heading, mark, tell
from aotloop.errors import AotError

MOST_QUESTION_ROUNDS = 4
MOST_ROUNDS = 12

ANSWER = f'"{WAYS["planner"].deciding_key}":'
"""By which a line is known as the agent's answer."""


def converse(planner: Planner, beginning: Beginning, trial: Trial, instructions: str | None) -> Reviewed:
    """Raises AotError if it is left without an agreement."""
    draft = beginning.draft
    request = beginning.request or draft.goal or _what_is_wanted()
    present = write_draft(draft) if draft != Draft() else ""
    talk = Talk(request=request, present=present, instructions=instructions)
    rounds_of_questions, has_proposed = 0, False
    for _ in range(MOST_ROUNDS):
        said = _asked(planner, replace(talk, may_ask=rounds_of_questions < MOST_QUESTION_ROUNDS))
        if said is None:
            break
        if said.result.questions:
            rounds_of_questions += 1
            answers = tuple((one.question, _answer(one)) for one in said.result.questions)
            talk = replace(talk, answers=(*talk.answers, *answers))
        if said.result.plan is not None:
            draft = ask_coverage(over(draft, draft_of_proposal(said.result.plan, draft)), beginning.before)
            draft = draft if has_proposed else ask_budget(draft, beginning.before)
            has_proposed = True
            reviewed = review(draft, beginning.before, trial, by_words=True)
            if reviewed.wish is None:
                return reviewed
            draft = reviewed.draft
            talk = replace(talk, proposal=write_draft(draft), wish=reviewed.wish)
    else:
        tell(f"That was {MOST_ROUNDS} rounds. The rest is quicker in a form.", err=True)
    return by_form(replace(beginning, draft=draft, request=request), trial)


def by_form(beginning: Beginning, trial: Trial) -> Reviewed:
    """Without an agent, or when it is of no use."""
    draft = beginning.draft
    if beginning.request and not draft.goal:
        draft = replace(draft, goal=prose(beginning.request.split("\n")[0]))
    while True:
        draft = fill_in(draft, beginning.before)
        reviewed = review(draft, beginning.before, trial, by_words=False)
        if reviewed.wish is None:
            return reviewed
        draft = reviewed.draft


def _what_is_wanted() -> str:
    tell("What is to be achieved? In your own words.", style=heading, err=True)
    while not (words := ask(">")):
        tell("A sentence is enough to begin with.", err=True)
    return words


def _asked(planner: Planner, talk: Talk) -> Said | None:
    """None: the person would rather fill in the form."""
    while True:
        tell(f"{planner.name} looks at the project …", style=faint, err=True)
        began = time.monotonic()
        try:
            said = planner.ask(talk, _shown)
        except AotError as error:
            tell(prose(f"{error.message}"), head=f"{mark(False)} ", err=True)
        else:
            _tell_spent(said, time.monotonic() - began)
            return said
        answer = ask("Try again [t], fill in a form instead [f], or leave [q]?").lower()[:1]
        if answer == "q":
            raise nobody_agreed()
        if answer == "f":
            return None


def _shown(line: str) -> None:
    """What an agent prints while it works, but not its answer: that is shown as questions, or as a proposal."""
    words = prose(line)
    if words and ANSWER not in words:
        click.echo(faint(f"  │ {words[:200]}"), err=True)


def _tell_spent(said: Said, seconds: float) -> None:
    cost = f", ${said.cost_usd:.2f}" if said.cost_usd is not None and said.cost_usd >= 0.005 else ""
    tell(f"{seconds:.0f} s{cost}", head="  ", style=faint, err=True)
    for note in said.notes:
        tell(prose(note), head=f"{mark(None)} ", err=True)
    if said.changed:
        names = prose(", ".join(said.changed[:8]))
        tell(f"While it looked, this changed in your checkout: {names}", head=f"{mark(False)} ", err=True)


def _answer(asked: AskedQuestion) -> str:
    """A choice by its number, or the person's own words; "": the agent decides."""
    tell(prose(asked.question), style=heading, err=True)
    for number, choice in enumerate(asked.choices, 1):
        tell(prose(choice), head=f"  {number}  ", err=True)
    how = "number, or your own words; Enter: you decide" if asked.choices else "Enter: you decide"
    answer = ask(f"({how}) >")
    if answer.isdecimal() and 1 <= int(answer) <= len(asked.choices):
        return asked.choices[int(answer) - 1]
    return answer
