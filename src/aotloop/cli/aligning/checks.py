"""Asks how a machine sees that it is done: checks one by one, each looked at before the next."""

from __future__ import annotations

from aotloop.cli.asking import ask, pick
from aotloop.cli.foreign import prose
from aotloop.cli.output import heading, tell
from aotloop.core.checklist import base_case_tree, problems_of_base_case
from aotloop.core.model import BaseCase, Check, ChecklistItem, CheckType

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
    "assertion": "What has to be so?",
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


def ask_checks(now: BaseCase | None) -> BaseCase:
    """Never without any: nothing empty can hold."""
    tell("How does a machine see that it is done? Every check has to hold in the end.", style=heading, err=True)
    items = list(_kept(now))
    while True:
        for item in items:
            tell(prose(item.item), head="  • ", err=True)
        kind = pick("Another check?" if items else "Which kind of check?", list(KINDS), list(KINDS.values()))
        if kind is None and items:
            return BaseCase(checklist=tuple(items))
        if kind is None:
            tell("At least one is needed: without any, nobody could tell when it is done.", err=True)
        else:
            items += _asked(next(one for one in KINDS if one == kind))


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
    """None, or one."""
    value = ask(_VALUES[kind])
    if not value:
        return []
    name = ask(f"In a few words, what holds then? (Enter: {_NAMES[kind].format(value)})") or _NAMES[kind].format(value)
    item = ChecklistItem(item=name, check=_quality(value) if kind == "quality" else Check(type=kind, value=value))
    problems = [one for one in problems_of_base_case(BaseCase(checklist=(item,)), ()) if one.level == "error"]
    for problem in problems:
        tell(f"That cannot be: {prose(problem.message)}", err=True)
    return [] if problems else [item]


def _quality(criteria: str) -> Check:
    while True:
        answer = ask(f"At least which score, from 1 to 5? (Enter: {DEFAULT_THRESHOLD})") or DEFAULT_THRESHOLD
        try:
            threshold = float(answer)
        except ValueError:
            threshold = 0.0
        if 1 <= threshold <= 5:
            return Check(type="quality", criteria=criteria, pass_threshold=threshold)
        tell(f"{answer} is not a number from 1 to 5.", err=True)
