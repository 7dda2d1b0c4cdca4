"""One question: which items of the base case does each atom make true? They are its check."""

from __future__ import annotations

import re

from aotloop.alignment.coverage import offered, proposals, with_covers
from aotloop.alignment.draft import Draft
from aotloop.cli.asking import ask
from aotloop.cli.foreign import prose, visible
from aotloop.cli.output import heading, tell
from aotloop.core.model import Loop

MOST_SHOWN = 60
NOTHING = "-"

Covers = dict[int, tuple[str, ...]]
"""By the places of atoms."""


def ask_coverage(draft: Draft, before: Loop | None) -> Draft:
    """Asked only where an agent's word alone would decide; Enter takes what words in common propose."""
    items, proposed = offered(draft), proposals(draft, before)
    if not items or not proposed:
        return draft
    names = {_name(draft, place): place for place in proposed}
    tell("Which atom makes which of these true? Each is checked by what it makes true.", style=heading, err=True)
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
    """Or what is wrong with it."""
    found: Covers = {}
    for word in re.sub(r"\s*([=,])\s*", r"\1", answer).split():
        name, equals, numbers = word.partition("=")
        if not equals or name not in names:
            return f"{word}: write the id of an atom, =, and numbers; there are: {', '.join(list(names)[:20])}"
        chosen = [one for one in numbers.split(",") if one and one != NOTHING]
        wrong = next((one for one in chosen if not (one.isdecimal() and 1 <= int(one) <= len(items))), None)
        if wrong is not None:
            return f"{word}: {wrong} is not a number from 1 to {len(items)}"
        found[names[name]] = tuple(dict.fromkeys(items[int(one) - 1] for one in chosen))
    return found
