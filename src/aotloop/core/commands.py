"""The commands and agents that a loop's file would run. A person must see them before they run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aotloop.core.checks.checklist import Node, atom_check_tree, base_case_tree, leaves
from aotloop.core.model import Atom, Loop

_PLAIN = re.compile(r"[\w.-]+")


def commands_of(loop: Loop) -> list[str]:
    """All commands in file order, each once: of the base case, of atoms and of atoms' checks; and the agents of atoms.

    An agent costs money and can run any command. It is listed as a comment, so no command can have the same text.
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
    """One line, also if a name contains line breaks."""
    atom_name, agent_name = (name if _PLAIN.fullmatch(name) else repr(name) for name in (atom.id, agent))
    return f"# atom {atom_name} asks for the agent {agent_name}"
