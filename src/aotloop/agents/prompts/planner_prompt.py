"""The prompt of a planner: only what the person said so far; every part has a maximum, as in `attempt_prompt`.

Texts of the person, a file or an earlier answer are quoted line by line, so that they cannot look like a rule of ours.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from aotloop.agents.prompts.attempt_prompt import how_to_answer
from aotloop.agents.roles import WAYS
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut, one_line

CAPS = {
    "request": 20_000,
    "present": 30_000,
    "proposal": 30_000,
    "wish": 4000,
    "answers": 40,  # how many
    "question": 500,
    "answer": 2000,
}
"""Characters, unless the name says otherwise."""

_RULES = (
    "Ask only what decides what is to be achieved or when it is complete, and what the folder cannot tell.",
    "Ask no more than five questions at once, each with likely answers to choose from.",
    "Each item of the checklist is one thing. Prefer commands that fail now and succeed when the item holds.",
    "Commands run in this folder with /bin/sh, without a person; none of them changes anything or needs the network.",
    "Each atom names in covers what of the checklist holds once it is done: so it is checked. Nearly all have one.",
    "Atoms are small enough for one sitting. Let one depend on another only if it needs its result.",
    "Give atoms the same or_group only where there are real alternatives of which one is enough, the best first.",
    "An alternative may be the same work in other words. Then the most explicit comes first: steps, names, an example.",
    "Keep the names of atoms that are there already, if they stay what they are.",
)
_PROPOSE = "Ask nothing more: propose, with the best guess where something was left open, and say so in the words."


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the dialogue so far."""

    request: str = ""
    """In the person's words."""
    answers: tuple[tuple[str, str], ...] = ()
    """Question, answer."""
    present: str = ""
    """The existing objective and graph, of the file or of an import, as YAML."""
    proposal: str = ""
    """The proposal before, as YAML."""
    wish: str = ""
    """The changes that the person wants in it."""
    may_ask: bool = True
    instructions: str | None = None


def write_planner_prompt(talk: Talk) -> str:
    sections = [
        WAYS["planner"].opening,
        f"# What the person wants\n{_quoted(talk.request, CAPS['request'])}",
        *_present(talk),
        *_answers(talk),
        *_proposal(talk),
        *_rules(talk),
        _answer(),
    ]
    return "\n\n".join(sections) + "\n"


def _present(talk: Talk) -> Iterator[str]:
    if talk.present:
        yield f"# What to begin from\n{_quoted(talk.present, CAPS['present'])}"


def _answers(talk: Talk) -> Iterator[str]:
    if talk.answers:
        lines = [
            f"{_quoted(question, CAPS['question'])}\nAnswer:\n{_quoted(answer or '(decide for me)', CAPS['answer'])}"
            for question, answer in talk.answers[-CAPS["answers"] :]
        ]
        yield "# What you asked before\n" + "\n\n".join(lines)


def _proposal(talk: Talk) -> Iterator[str]:
    if talk.proposal:
        yield f"# What was proposed\n{_quoted(talk.proposal, CAPS['proposal'])}"
    if talk.wish:
        yield f"# What the person wants to be otherwise in it\n{_quoted(talk.wish, CAPS['wish'])}"


def _rules(talk: Talk) -> Iterator[str]:
    rules = [*WAYS["planner"].rules, *_RULES]
    if not talk.may_ask:
        rules.append(_PROPOSE)
    if talk.instructions:
        rules.append(one_line(talk.instructions, 4000))
    yield "# Rules\n" + "\n".join(f"- {rule}" for rule in rules)


def _answer() -> str:
    return how_to_answer("planner")


def _quoted(text: str, most: int) -> str:
    return "\n".join(f"> {line}".rstrip() for line in (cut(plain(text), most) or "(nothing)").split("\n"))
