"""What a loop's file would have us run, and by whom: what a person has to see before it is done."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aotloop.core.checklist import Node, atom_check_tree, base_case_tree, leaves
from aotloop.core.model import Atom, Loop

_PLAIN = re.compile(r"[\w.-]+")


def commands_of(loop: Loop) -> list[str]:
    """In file order, each once: of the base case, of atoms that are commands, of atoms' checks; and whom atoms ask for.

    An agent costs money, and runs what it likes. It is told as a comment, so that no command can have the same words.
    """
    found = list(commands_in(base_case_tree(loop.objective.base_case)))
    for atom in loop.atoms:
        if atom.run is not None:
            found.append(atom.run)
        if atom.agent is not None:
            found.append(_asking(atom, atom.agent))
        if atom.check is not None:
            found += commands_in(atom_check_tree(atom.check, atom.id))
    return list(dict.fromkeys(found))


def commands_in(tree: Node) -> Iterator[str]:
    for leaf in leaves(tree):
        if leaf.check.type in ("command", "not_command") and leaf.check.value is not None:
            yield leaf.check.value


def _asking(atom: Atom, agent: str) -> str:
    """In one line, whatever the names are."""
    who, whom = (name if _PLAIN.fullmatch(name) else repr(name) for name in (atom.id, agent))
    return f"# atom {who} asks for the agent {whom}"
