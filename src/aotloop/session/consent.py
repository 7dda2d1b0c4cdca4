"""A script runs commands of a state file only after this user accepted them; an agent that calls it has no say in that.

Who accepts is a person: in a terminal, or in a prompt that a hook saw typed, with the digest of what was shown.
"""

from __future__ import annotations

from aotloop.app import Permit
from aotloop.core.checklist import check_of
from aotloop.core.commands import commands_in, commands_of
from aotloop.core.graph import Graph
from aotloop.core.model import Loop
from aotloop.errors import NotTrusted
from aotloop.session.typed import to_type
from aotloop.statefile.store import Store
from aotloop.trust.commands import digest_of, is_trusted, trust


def only_accepted(store: Store) -> Permit:
    """Commands are looked at when they are about to be run: the file may have changed since it was read."""

    def permit(commands: list[str]) -> None:
        if commands:
            loop = store.load()
            require_acceptance(store, loop)
            if not set(commands) <= set(commands_of(loop)):
                raise NotTrusted("the commands of this file changed before they were run, so they were not", commands)

    return permit


def require_acceptance_of_checks(store: Store, loop: Loop, atom_id: str) -> None:
    """Of all that resolving this atom may run: its check, and those of what it is a part of.

    Looked at before anything is done: else an atom would be resolved, and its parent refused.
    """
    graph = Graph(loop)
    above = [atom_id]
    for one in above:
        above += [parent for parent in graph.parents_of.get(one, ()) if parent not in above]
    checks = [check_of(graph.atoms[one], loop.objective.base_case) for one in above if one in graph.atoms]
    if any(any(commands_in(check)) for check in checks if check is not None):
        require_acceptance(store, loop)


def require_acceptance(store: Store, loop: Loop) -> None:
    commands = commands_of(loop)
    if not is_trusted(store.path, commands):
        raise NotTrusted(
            "the person has not accepted the commands of this file yet, so none of them was run",
            commands,
            hint="Show them to the person. Only the person accepts them: with `aot gate` in a terminal, or by typing"
            f" {to_type(f'accept {digest_of(store.path, commands)}')} here.",
        )


def accept(store: Store, digest: str) -> list[str]:
    """For whoever saw a person ask for it. Raises NotTrusted if these are not the commands that the digest is of."""
    commands = commands_of(store.load())
    if digest != digest_of(store.path, commands):
        raise NotTrusted("the commands of this file are not the ones that were shown", commands)
    trust(store.path, commands)
    return commands
