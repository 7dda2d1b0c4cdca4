"""The prompt of a judge: the goal, the item and its criteria; no claim about the work.

Weights and threshold are not in it, so that a judge cannot aim at them. Each part has a maximum length; texts of others
are quoted line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aotloop.agents.prompts.attempt_prompt import NO_ANSWERS, how_to_answer, listed, quoted, wanted_besides
from aotloop.agents.roles import WAYS, Role
from aotloop.checks.judge import Question
from aotloop.core.checks.quality import criteria_of
from aotloop.core.model import CheckType, Criterion, Objective
from aotloop.execution.judges.case import scope_of
from aotloop.text.shorten import cut, one_line

CAPS = {
    "objective": 2000,  # each of its parts
    "item": 300,
    "assertion": 4000,
    "criteria": 40,  # how many
    "description": 2000,
    "level": 400,
    "scope": 1000,
    "files": 200,  # how many
    "path": 200,
}
"""Characters, unless the name says otherwise."""

ROLES: dict[CheckType, Role] = {"quality": "judge", "assertion": "verifier"}

_STAY = (
    "Look at nothing outside of this folder, and at no history: statements of others about the work count for nothing."
)


def write_judging_prompt(
    question: Question, objective: Objective, files: Sequence[str], instructions: str | None = None
) -> str:
    """`files`: those in scope."""
    role = ROLES[question.check.type]
    sections = [
        WAYS[role].opening,
        *_objective(objective),
        *_item(question),
        *_files(question, files),
        "# Rules\n" + listed([*WAYS[role].rules, _STAY, NO_ANSWERS]),
        *wanted_besides(instructions),
        how_to_answer(role),
    ]
    return "\n\n".join(sections) + "\n"


def _objective(objective: Objective) -> Iterator[str]:
    yield "# What was wanted"
    for title, text in (
        ("Goal", objective.goal),
        ("Why", objective.background_intent),
        ("Done when", objective.definition_of_done),
    ):
        yield f"{title}:\n{quoted(text, CAPS['objective'])}"


def _item(question: Question) -> Iterator[str]:
    yield f"# What you judge\n{quoted(question.name, CAPS['item'])}"
    check = question.check
    if check.type == "assertion":
        yield f"Is this so?\n{quoted(check.value or '', CAPS['assertion'])}"
        return
    criteria = criteria_of(check)[: CAPS["criteria"]]
    yield "# The criteria, each from 1 (worst) to 5 (best)"
    for criterion in criteria:
        yield "\n".join(_criterion(criterion))


def _criterion(criterion: Criterion) -> Iterator[str]:
    yield f'Criterion "{one_line(criterion.criterion, CAPS["item"])}":'
    if criterion.description is not None:
        yield quoted(criterion.description, CAPS["description"])
    for level, words in sorted(criterion.levels.items()):
        yield quoted(f"{level}: {one_line(words, CAPS['level'])}", CAPS["level"])


def _files(question: Question, files: Sequence[str]) -> Iterator[str]:
    if question.check.scope is None:
        yield f"All of this folder is to be judged: {len(files)} files."
        return
    scope = quoted(cut(scope_of(question.check), CAPS["scope"]), CAPS["scope"])
    shown = [one_line(path, CAPS["path"]) for path in files[: CAPS["files"]]]
    more = f"\nand {len(files) - len(shown)} more" if len(files) > len(shown) else ""
    names = quoted("\n".join(shown), CAPS["files"] * CAPS["path"])
    yield f"Only these are to be judged:\n{scope}\nThat is, {len(files)} files:\n{names}{more}"
