"""Which items of the base case each atom makes true, guessed from their words. A person decides about the proposal.

An item belongs to an atom if its words are a line of the atom's description (imported criteria are), else if no other
item has more words in common with it. Words that most items have say nothing.
"""

from __future__ import annotations

import re
from collections import Counter

from msgspec.structs import replace

from aotloop.app.align.draft import Draft, DraftAtom
from aotloop.core.checks.checklist import Leaf, Node, base_case_tree, is_judged
from aotloop.core.model import BaseCase, Loop

_WORD = re.compile(r"[^\W_]+")
_SHORTEST, _STEM = 3, 5
"""Letters: of a word that says something, and those by which `login` and `logins` are the same."""
_EMPTY = frozenset(
    {
        "the", "and", "for", "with", "from", "that", "this", "into", "are", "has", "have", "can", "all", "any",
        "its", "not", "must", "should", "exists", "succeeds", "fails", "does", "test", "exit", "command", "file",
        "make",
    }
)  # fmt: skip


def offered(draft: Draft) -> list[str]:
    """Items that can be an atom's check, by name: a program decides them, and no two have the same name."""
    nodes = _nodes(draft.base_case)
    counts = Counter(node.name for node in nodes)
    return [node.name for node in nodes if counts[node.name] == 1 and not is_judged(node)]


def undecided(draft: Draft, before: Loop | None) -> list[int]:
    """Places of atoms that only an agent's word would decide. A single atom is the whole work, so it is no such place.

    Atoms that the loop before had resolved are decided already.
    """
    wholes = {split.parent for split in draft.decompositions}
    done = {atom.id for atom in before.atoms if atom.status == "resolved"} if before is not None else set()
    needed = {atom.or_group or place for place, atom in enumerate(draft.atoms) if atom.id not in wholes | done}
    if len(needed) < 2:
        return []
    return [
        place
        for place, atom in enumerate(draft.atoms)
        if not (atom.covers or atom.check is not None or atom.run is not None or atom.id in wholes | done)
    ]


def proposals(draft: Draft, before: Loop | None = None) -> dict[int, tuple[str, ...]]:
    """For each undecided atom, by its place; () if its words have nothing in common with an item."""
    items = set(offered(draft))
    nodes = [node for node in _nodes(draft.base_case) if node.name in items]
    words = {node.name: _words(f"{node.name} {_value(node)}") for node in nodes}
    common = Counter(word for found in words.values() for word in found)
    telling = {name: {term for term in found if 2 * common[term] <= len(nodes) + 1} for name, found in words.items()}
    return {place: _likely(draft.atoms[place], nodes, telling) for place in undecided(draft, before)}


def with_covers(draft: Draft, covers: dict[int, tuple[str, ...]]) -> Draft:
    """By the places of atoms."""
    atoms = tuple(
        replace(atom, covers=covers[place]) if place in covers else atom for place, atom in enumerate(draft.atoms)
    )
    return replace(draft, atoms=atoms)


def stated(draft: Draft, criteria: dict[int, tuple[str, ...]]) -> dict[int, tuple[str, ...]]:
    """Items that equal a text of the plan about an atom (by its place): its criteria, its test strategy."""
    items = set(offered(draft))
    nodes = [node for node in _nodes(draft.base_case) if node.name in items]
    found = {place: _said(nodes, _lines("\n".join(texts))) for place, texts in criteria.items()}
    return {place: names for place, names in found.items() if names}


def _nodes(base_case: BaseCase | None) -> tuple[Node, ...]:
    return (
        base_case_tree(base_case).children if base_case is not None and (base_case.checklist or base_case.type) else ()
    )


def _likely(atom: DraftAtom, nodes: list[Node], telling: dict[str, set[str]]) -> tuple[str, ...]:
    said = _said(nodes, _lines(atom.description))
    if said:
        return said
    words = _words(atom.description)
    shared = {node.name: len(words & telling[node.name]) for node in nodes}
    most = max(shared.values(), default=0)
    return tuple(name for name, count in shared.items() if count == most) if most else ()


def _said(nodes: list[Node], lines: set[str]) -> tuple[str, ...]:
    return tuple(node.name for node in nodes if lines & {_plain(node.name), _plain(_value(node))} - {""})


def _lines(text: str) -> set[str]:
    return set(map(_plain, text.split("\n")))


def _plain(line: str) -> str:
    return " ".join(line.strip(" \t-*•.`").casefold().split())


def _value(node: Node) -> str:
    return node.check.value or "" if isinstance(node, Leaf) else ""


def _words(text: str) -> set[str]:
    found = (word.casefold() for word in _WORD.findall(text))
    return {word[:_STEM] for word in found if len(word) >= _SHORTEST and word not in _EMPTY}
