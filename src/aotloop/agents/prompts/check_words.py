"""What decides about an atom, in words: its check with the commands, and how the whole work is checked."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.core.checks.checklist import AllOf, Leaf, Node, base_case_tree, leaves
from aotloop.core.model import CheckType, Objective

MOST_COMMANDS = 5
_CHECKS: dict[CheckType, str] = {
    "command": "this command must succeed: {}",
    "not_command": "this command must fail: {}",
    "file": "this must exist: {}",
    "not_file": "this must not exist: {}",
    "assertion": "a judge decides whether this is true: {}",
    "quality": "a judge scores its quality: {}",
}


def other_commands(check: Node | None, objective: Objective) -> list[str]:
    """Commands of the base case that its own check does not have."""
    own = {leaf.check.value for leaf in leaves(check)} if check is not None else set()
    found = [leaf.check.value for leaf in leaves(base_case_tree(objective.base_case)) if leaf.check.type == "command"]
    return [command for command in dict.fromkeys(found) if command is not None and command not in own][:MOST_COMMANDS]


def check_words(node: Node, indent: str = "") -> Iterator[str]:
    if isinstance(node, Leaf):
        check = node.check
        rubric = ", ".join(entry.criterion for entry in check.rubric or ())
        yield indent + _CHECKS[check.type].format(check.value or check.criteria or rubric or node.name)
        return
    yield indent + ("all of:" if isinstance(node, AllOf) else "one of:")
    for child in node.children:
        yield from check_words(child, indent + "- ")
