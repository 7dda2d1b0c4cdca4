"""A proposal to split an atom is accepted or refused as a whole.

It never contains a command: agents do not write commands that we execute.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from aotloop.agents.answers.answer_schema import Proposal, ProposedChild
from aotloop.core.events import Child
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut, one_line

MOST_CHILDREN = 50
"""The most parts that are read; the objective says how many are allowed."""

LONGEST_NAME = 80
LONGEST_DESCRIPTION = 2000
LONGEST_REASON = 1000
MOST_NEEDS = 50
LONGEST_ITEM = 300
MOST_COVERED = 50

_COMMANDS = ("run", "check")


class Refused(ValueError):  # noqa: N818 - reads as a sentence where it is caught
    """Why a proposal is refused, in words."""


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    children: tuple[Child, ...]
    reason: str


def read_proposal(raw: Any) -> Parts:
    """From decoded JSON. Raises Refused."""
    _refuse_commands(raw)
    try:
        proposal = msgspec.convert(raw, Proposal)
    except msgspec.ValidationError as error:
        raise Refused(str(error)) from None
    except UnicodeEncodeError:  # msgspec would quote the value in its message if it expects another type than text
        raise Refused("it has half of a surrogate pair in it") from None
    if not proposal.children:
        raise Refused("it has no parts")
    if len(proposal.children) > MOST_CHILDREN:
        raise Refused(f"{len(proposal.children)} parts are too many")
    children = tuple(_child(number, child) for number, child in enumerate(proposal.children, 1))
    names = [child.name for child in children if child.name is not None]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise Refused(f"two parts are called {twice[0]}")
    return Parts(children=children, reason=cut(plain(proposal.reason), LONGEST_REASON))


def _refuse_commands(raw: Any) -> None:
    children = raw.get("children") if isinstance(raw, dict) else None
    for part in [raw, *(children if isinstance(children, list) else [])]:
        for key in _COMMANDS:
            if isinstance(part, dict) and part.get(key) is not None:
                raise Refused(f"it brings a command (`{key}`); parts are described, never given commands to execute")


def _child(number: int, proposed: ProposedChild) -> Child:
    description = cut(plain(proposed.description), LONGEST_DESCRIPTION)
    if not description:
        raise Refused(f"part {number} has no description")
    name = _name(proposed.name)
    needs = tuple(dict.fromkeys(filter(None, map(_name, proposed.depends_on))))
    if len(needs) > MOST_NEEDS:
        raise Refused(f"part {number} depends on {len(needs)} others, which are too many")
    if name is not None and name in needs:
        raise Refused(f"{name} depends on itself")
    estimate = proposed.estimate
    if estimate is not None and not 0 < estimate < float("inf"):
        raise Refused(f"part {number} is estimated at {estimate:g} minutes")
    return Child(
        name=name,
        description=description,
        depends_on=needs,
        or_group=_name(proposed.or_group),
        estimate=estimate,
        covers=items_named(proposed.covers),
        probe=proposed.probe,
    )


def items_named(covers: Iterable[str]) -> tuple[str, ...]:
    """This module does not know the items of the base case. An unknown item is lost, and that is not a failure."""
    return tuple(dict.fromkeys(filter(None, (one_line(item, LONGEST_ITEM) for item in covers))))[:MOST_COVERED]


def _name(text: str | None) -> str | None:
    """A name that had to be cut could be mistaken for another, so it is refused."""
    words = one_line(text or "", LONGEST_NAME + 1)
    if len(words) > LONGEST_NAME:
        raise Refused(f"the name {words[:20]}… is longer than {LONGEST_NAME} characters")
    return words or None
