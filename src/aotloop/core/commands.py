"""Which commands a loop's file would have us run: what a person has to see before it is done."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.checklist import Node, atom_check_tree, base_case_tree, leaves
from aotloop.core.model import Loop


def commands_of(loop: Loop) -> list[str]:
    """In file order, each once: of the base case, of atoms that are commands, and of atoms' checks."""
    found = list(commands_in(base_case_tree(loop.objective.base_case)))
    for atom in loop.atoms:
        if atom.run is not None:
            found.append(atom.run)
        if atom.check is not None:
            found += commands_in(atom_check_tree(atom.check, atom.id))
    return list(dict.fromkeys(found))


def commands_in(tree: Node) -> Iterator[str]:
    for leaf in leaves(tree):
        if leaf.check.type in ("command", "not_command") and leaf.check.value is not None:
            yield leaf.check.value
