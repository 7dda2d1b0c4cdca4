"""Questions of the guided form: the checks, the atoms that make them true, and the budget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil

from msgspec.structs import replace

from aotloop.app.align.coverage import offered, proposals, with_covers
from aotloop.app.align.draft import Draft
from aotloop.app.align.project_commands import ProjectCommand
from aotloop.app.align.shape import shape_of
from aotloop.cli.ui.output import heading, tell
from aotloop.cli.ui.prompts import ask, pick
from aotloop.core.checks.checklist import base_case_tree, problems_of_base_case
from aotloop.core.measure import attempts_allowed, shares_of
from aotloop.core.model import BaseCase, Check, ChecklistItem, CheckType, Constraints, Loop
from aotloop.text.phrases import counted, dollars
from aotloop.text.sanitize import prose, visible

USUAL_USD = 1.0
"""A guess for the cost of an attempt, used until attempts of this loop have a known cost."""
USUAL_ATTEMPTS = 3
"""Attempts for each atom: some succeed at once, some need more."""


def ask_budget(draft: Draft, before: Loop | None) -> Draft:
    """Asks nothing if the budget is known already, or if commands do all the work."""
    constraints = draft.constraints if draft.constraints is not None else Constraints()
    if constraints.max_cost_usd is not None or (draft.atoms and all(atom.run is not None for atom in draft.atoms)):
        return draft
    proposed, why = _proposal(draft, before)
    tell("How many dollars may the loop cost at most?", style=heading, err=True)
    tell(f"A usual amount is {proposed} ({why}).", head="  ", err=True)
    while answer := ask("(Enter: no limit) >").removeprefix("$"):
        try:
            amount = float(answer)
        except ValueError:
            amount = 0.0
        if 0 < amount < float("inf"):
            return replace(draft, constraints=replace(constraints, max_cost_usd=amount))
        tell(f"{answer} is not an amount of money. Type a number, or Enter for no limit.", err=True)
    return draft


def _proposal(draft: Draft, before: Loop | None) -> tuple[int, str]:
    """The amount, and its explanation."""
    loop = shape_of(draft, before).loop
    each, by = USUAL_USD, "a guess"
    prices = before.control.prices if before is not None else None
    if prices is not None and prices.attempts and prices.attempts_usd:
        each, by = prices.attempts_usd / prices.attempts, "the average of this loop so far"
    shares, most = shares_of(loop), attempts_allowed(loop)
    attempts = min(USUAL_ATTEMPTS * shares, most)
    why = f"{attempts} attempts at {counted(shares, 'atom')}, {dollars(each)} each, {by}; at most {most} are made"
    return max(1, ceil(attempts * each)), why


MOST_SHOWN = 60
NOTHING = "-"

Covers = dict[int, tuple[str, ...]]
"""Keys are the positions of atoms."""


def ask_coverage(draft: Draft, before: Loop | None) -> Draft:
    """Asks only where an agent's claim alone would decide; Enter accepts a proposal based on shared words."""
    items, proposed = offered(draft), proposals(draft, before)
    if not items or not proposed:
        return draft
    names = {_name(draft, place): place for place in proposed}
    tell("Which atom makes which item true? These items decide whether the atom is done.", style=heading, err=True)
    for number, item in enumerate(items, 1):
        tell(prose(item), head=f"  {number:>2}  ", err=True)
    for name, place in list(names.items())[:MOST_SHOWN]:
        numbers = " ".join(str(items.index(item) + 1) for item in proposed[place]) or NOTHING
        tell(f"[{numbers}]", head=f"  {visible(name)}  ", note=prose(draft.atoms[place].description)[:60], err=True)
    if len(names) > MOST_SHOWN:
        tell(f"  … {len(names) - MOST_SHOWN} more", err=True)
    first = visible(next(iter(names)))
    how = f"(Enter: as proposed; else {first}=1{',2' if len(items) > 1 else ''}, or {first}={NOTHING} for none) >"
    while True:
        changed = _read(ask(how), names, items)
        if not isinstance(changed, str):
            return with_covers(draft, {**proposed, **changed})
        tell(prose(changed), err=True)


def _name(draft: Draft, place: int) -> str:
    return draft.atoms[place].id or f"#{place + 1}"


def _read(answer: str, names: dict[str, int], items: list[str]) -> Covers | str:
    """The coverage, or a message that says what is wrong with the answer."""
    found: Covers = {}
    for word in re.sub(r"\s*([=,])\s*", r"\1", answer).split():
        name, equals, numbers = word.partition("=")
        if not equals or name not in names:
            return f"{word}: write the id of an atom, =, and numbers; there are: {', '.join(list(names)[:20])}"
        chosen = [number for number in numbers.split(",") if number and number != NOTHING]
        wrong = next((number for number in chosen if not (number.isdecimal() and 1 <= int(number) <= len(items))), None)
        if wrong is not None:
            return f"{word}: {wrong} is not a number from 1 to {len(items)}"
        found[names[name]] = tuple(dict.fromkeys(items[int(number) - 1] for number in chosen))
    return found


KINDS: dict[CheckType, str] = {
    "command": "a command succeeds (exit 0)",
    "not_command": "a command fails",
    "file": "a file, folder or glob exists",
    "not_file": "it does not exist",
    "assertion": "an agent judges a sentence, then you confirm it",
    "quality": "an agent scores it from 1 to 5",
}
_VALUES: dict[CheckType, str] = {
    "command": "Which command?  $",
    "not_command": "Which command?  $",
    "file": "Which path?",
    "not_file": "Which path?",
    "assertion": "Which statement has to be true?",
    "quality": "What is scored?",
}
_NAMES: dict[CheckType, str] = {
    "command": "`{}` succeeds",
    "not_command": "`{}` fails",
    "file": "{} exists",
    "not_file": "{} does not exist",
    "assertion": "{}",
    "quality": "{}",
}
DEFAULT_THRESHOLD = "3"


def ask_checks(now: BaseCase | None, found: Sequence[ProjectCommand]) -> BaseCase:
    """Asks until there is at least one check: an empty base case cannot hold. `found`: proposals."""
    tell("How can a machine check that it is done? Every check has to hold at the end.", style=heading, err=True)
    items = list(_kept(now)) or _proposed(found)
    while True:
        for item in items:
            tell(prose(item.item), head="  • ", err=True)
        kind = pick("Another check?" if items else "Which kind of check?", list(KINDS), list(KINDS.values()))
        if kind is None and items:
            return BaseCase(checklist=tuple(items))
        if kind is None:
            tell("At least one check is needed: it decides when the loop is done.", err=True)
        else:
            items += _asked(next(known for known in KINDS if known == kind))


def _proposed(found: Sequence[ProjectCommand]) -> list[ChecklistItem]:
    """The person chooses among commands that the project's own files name."""
    if not found:
        return []
    for number, command in enumerate(found, 1):
        tell(prose(command.command), head=f"  {number:>2}  ", note=f"from {prose(command.source)}", err=True)
    while True:
        numbers = ask("Which of these commands have to succeed? (numbers; Enter: none) >").replace(",", " ").split()
        wrong = next((typed for typed in numbers if not (typed.isdecimal() and 1 <= int(typed) <= len(found))), None)
        if wrong is None:
            commands = dict.fromkeys(found[int(typed) - 1].command for typed in numbers)
            return [_item("command", command, _NAMES["command"].format(command)) for command in commands]
        tell(f"{wrong} is not a number from 1 to {len(found)}.", err=True)


def _item(kind: CheckType, value: str, name: str) -> ChecklistItem:
    return ChecklistItem(item=name, check=Check(type=kind, value=value))


def _kept(now: BaseCase | None) -> tuple[ChecklistItem, ...]:
    if now is None or not (now.checklist or now.type):
        return ()
    for child in base_case_tree(now).children:
        tell(prose(child.name), head="  now: ", err=True)
    if ask("Keep these? [Y/n]").lower() in ("n", "no"):
        return ()
    if now.checklist is not None:
        return now.checklist
    (only,) = base_case_tree(now).children
    return (ChecklistItem(item=only.name, check=getattr(only, "check", None)),)


def _asked(kind: CheckType) -> list[ChecklistItem]:
    """A list with one item, or an empty list."""
    value = ask(_VALUES[kind])
    if not value:
        return []
    name = ask(f"In a few words, what holds? (Enter: {_NAMES[kind].format(value)})") or _NAMES[kind].format(value)
    item = ChecklistItem(item=name, check=_quality(value)) if kind == "quality" else _item(kind, value, name)
    problems = [
        problem for problem in problems_of_base_case(BaseCase(checklist=(item,)), ()) if problem.level == "error"
    ]
    for problem in problems:
        tell(f"This check is not valid: {prose(problem.message)}", err=True)
    return [] if problems else [item]


def _quality(criteria: str) -> Check:
    while True:
        answer = ask(f"Which score from 1 to 5 is needed at least? (Enter: {DEFAULT_THRESHOLD})") or DEFAULT_THRESHOLD
        try:
            threshold = float(answer)
        except ValueError:
            threshold = 0.0
        if 1 <= threshold <= 5:
            return Check(type="quality", criteria=criteria, pass_threshold=threshold)
        tell(f"{answer} is not a number from 1 to 5.", err=True)
