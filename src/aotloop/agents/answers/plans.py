"""The answer of a planner becomes questions or a complete proposal; every other text is no answer.

Text is made plain and short, names are unique, and each dependency names an atom of the proposal.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from aotloop.agents.answers.answer_schema import AskedQuestion, Plan, PlannedAtom, PlannedCheck, PlannerResult
from aotloop.agents.answers.extraction import NotAResult
from aotloop.agents.answers.split_proposal import items_named
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut, one_line

MOST_QUESTIONS = 8
MOST_CHOICES = 8
MOST_ITEMS = 50
MOST_ATOMS = 200
MOST_PATTERNS = 50
LONGEST_LINE = 300
LONGEST_NAME = 80
LONGEST_TEXT = 4000


def read_planner(result: PlannerResult, notes: list[str]) -> PlannerResult:
    """Raises NotAResult. If the planner asks questions, its proposal is ignored until they are answered."""
    questions = tuple(filter(None, map(_question, result.questions[:MOST_QUESTIONS])))
    if questions:
        return PlannerResult(questions=questions)
    if result.plan is None:
        raise NotAResult("it neither asks nor proposes anything")
    return PlannerResult(questions=(), plan=_plan(result.plan, notes))


def _question(asked: AskedQuestion) -> AskedQuestion | None:
    question = one_line(asked.question, LONGEST_LINE)
    choices = dict.fromkeys(one_line(choice, LONGEST_LINE) for choice in asked.choices[:MOST_CHOICES])
    return AskedQuestion(question=question, choices=tuple(filter(None, choices))) if question else None


def _plan(plan: Plan, notes: list[str]) -> Plan:
    _refuse_many("items in the checklist", plan.checklist, MOST_ITEMS)
    _refuse_many("atoms", plan.atoms, MOST_ATOMS)
    if not plan.checklist:
        raise NotAResult("its checklist is empty, so there is no way to tell when it is done")
    goal = one_line(plan.goal, LONGEST_LINE)
    if not goal:
        raise NotAResult("it proposes no goal")
    checklist = tuple(map(_check, plan.checklist))
    return Plan(
        goal=goal,
        background_intent=_text(plan.background_intent),
        deliverables=_text(plan.deliverables),
        definition_of_done=_text(plan.definition_of_done),
        checklist=checklist,
        protect=_patterns(plan.protect),
        atoms=tuple(_covering(atom, checklist, notes) for atom in _atoms(plan.atoms)),
    )


def _check(check: PlannedCheck) -> PlannedCheck:
    value = plain(check.value)
    if not value:
        raise NotAResult(f"the check {one_line(check.item, 80)!r} has no value")
    if len(value) > LONGEST_TEXT:
        raise NotAResult(f"the check {one_line(check.item, 80)!r} is too long")  # half a command is another command
    return replace(check, item=one_line(check.item, LONGEST_LINE) or one_line(value, LONGEST_LINE), value=value)


def _atoms(atoms: tuple[PlannedAtom, ...]) -> tuple[PlannedAtom, ...]:
    names = [_name(atom.name) for atom in atoms]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise NotAResult(f"two atoms are called {twice}")
    return tuple(_atom(atom, name, names) for atom, name in zip(atoms, names, strict=True))


def _atom(atom: PlannedAtom, name: str, names: list[str]) -> PlannedAtom:
    description = _text(atom.description)
    if not description:
        raise NotAResult(f"the atom {name} has no description")
    needs = tuple(dict.fromkeys(map(_name, atom.depends_on)))
    unknown = next((need for need in needs if need not in names), None)
    if unknown is not None:
        raise NotAResult(f"{name} depends on {unknown}, which it does not propose")
    estimate = atom.estimate if atom.estimate is not None and 0 < atom.estimate < float("inf") else None
    return PlannedAtom(
        name=name,
        description=description,
        depends_on=needs,
        or_group=_name(atom.or_group) if atom.or_group and atom.or_group.strip() else None,
        touches=_patterns(atom.touches),
        estimate=estimate,
        covers=items_named(atom.covers),
    )


def _covering(atom: PlannedAtom, checklist: tuple[PlannedCheck, ...], notes: list[str]) -> PlannedAtom:
    """Items that the proposal does not contain are left out with a note: that is no reason to ask again."""
    items = {check.item for check in checklist}
    unknown = [item for item in atom.covers if item not in items]
    if unknown:
        notes.append(f"{atom.name} is to cover {', '.join(unknown)}, which its checklist does not have: left out")
    return replace(atom, covers=tuple(item for item in atom.covers if item in items))


def _name(text: str) -> str:
    """A name that had to be cut could be mistaken for another, so it is refused."""
    words = one_line(text, LONGEST_NAME + 1)
    if not words or len(words) > LONGEST_NAME:
        raise NotAResult(f"{words[:20]!r}… is no name" if words else "an atom has no name")
    return words


def _patterns(patterns: Iterable[str]) -> tuple[str, ...]:
    kept = dict.fromkeys(filter(None, (one_line(pattern, LONGEST_LINE) for pattern in patterns)))
    return tuple(list(kept)[:MOST_PATTERNS])


def _text(text: str) -> str:
    return cut(plain(text), LONGEST_TEXT)


def _refuse_many(what: str, things: tuple[object, ...], most: int) -> None:
    if len(things) > most:
        raise NotAResult(f"{len(things)} {what} are too many")
