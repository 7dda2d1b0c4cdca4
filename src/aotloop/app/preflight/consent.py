"""Commands of a file run only after this user accepted them. Only a person accepts, never an agent.

In a terminal the caller asks (`ask_consent`). In a session there is no question: commands that are not accepted are
refused (`only_accepted`), and the person types the digest of what was shown, in a prompt that a hook sees.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aotloop.app.loops import Permit
from aotloop.app.slash_commands import to_type
from aotloop.core.checks.checklist import check_of
from aotloop.core.commands import commands_in, commands_of
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Loop
from aotloop.errors import NotTrusted, Unavailable
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import digest_of, is_trusted, trust
from aotloop.trust.person import refuse_agents

Ask = Callable[[Sequence[str]], None]
"""Shows the commands to a person. Raises NotTrusted unless the person accepts them."""

OnUnkept = Callable[[Unavailable], None]
"""Called with the reason why an acceptance could not be kept. The command continues all the same."""


# --- in a terminal -----------------------------------------------------------------------------------------------


def ask_consent(store: Store, ask: Ask | None, on_unkept: OnUnkept) -> Permit:
    """Returns when every command of the file, as it is then, is accepted. `ask` None: the answer is yes.

    The file may change again before a command runs, so the permit compares what is about to run.
    """
    accepted: list[str] = []
    while not (is_trusted(store.path, commands := commands_of(store.load())) or commands == accepted):
        if ask is not None:
            ask(commands)
        accept(store.path, commands, on_unkept)
        accepted = commands  # the file may have changed while the person was asked
    return permit_only(commands)


def ask_acceptance(path: str, permissions: Sequence[str], ask: Ask | None, on_unkept: OnUnkept) -> None:
    """For commands of another file, such as the configuration. It asks once, and again when they change."""
    if not is_trusted(path, permissions):
        if ask is not None:
            ask(permissions)
        accept(path, permissions, on_unkept)


def acceptance_of(store: Store, permit: Permit) -> Callable[[Loop], bool]:
    """Whether all commands of a loop were accepted: before it began, or since then by a command of the user."""

    def is_accepted(loop: Loop) -> bool:
        commands = commands_of(loop)
        if is_trusted(store.path, commands):
            return True
        try:
            permit(commands)
        except NotTrusted:
            return False
        return True

    return is_accepted


def permit_only(accepted: Sequence[str]) -> Permit:
    def permit(commands: list[str]) -> None:
        if not set(commands) <= set(accepted):
            raise NotTrusted(
                "the commands of this file changed before they ran, so none of them was run",
                hint="Read them, then try again.",
            )

    return permit


def accept(path: str, commands: Sequence[str], on_unkept: OnUnkept) -> None:
    """Raises NotTrusted for a process below a run."""
    if commands:
        refuse_agents("only a person accepts commands")
    try:
        trust(path, commands)
    except Unavailable as error:
        on_unkept(error)


def accept_typed(store: Store, before: Loop, command: str, on_unkept: OnUnkept) -> None:
    """A command that the user typed needs no question, if all others of the file were accepted before."""
    commands, others = commands_of(store.load()), commands_of(before)
    if is_trusted(store.path, others) and set(commands) <= {*others, command}:
        accept(store.path, commands, on_unkept)


# --- in a session ------------------------------------------------------------------------------------------------


def only_accepted(store: Store) -> Permit:
    """Looks at the commands when they are about to run: the file may have changed since it was read."""

    def permit(commands: list[str]) -> None:
        if commands:
            loop = store.load()
            require_acceptance(store, loop)
            if not set(commands) <= set(commands_of(loop)):
                raise NotTrusted("the commands of this file changed before they ran, so none of them was run", commands)

    return permit


def require_acceptance_of_checks(store: Store, loop: Loop, atom_id: str) -> None:
    """Of every check that resolving this atom may run: its own, and those of its parents.

    This comes before anything is done: else an atom would be resolved, and its parent refused.
    """
    graph = Graph(loop)
    above = [atom_id]
    for ancestor in above:
        above += [parent for parent in graph.parents_of.get(ancestor, ()) if parent not in above]
    checks = [
        check_of(graph.atoms[ancestor], loop.objective.base_case) for ancestor in above if ancestor in graph.atoms
    ]
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


def accept_shown(store: Store, digest: str) -> list[str]:
    """For a hook that saw a person type it. Raises NotTrusted if the digest is of other commands."""
    refuse_agents("only a person accepts commands")
    commands = commands_of(store.load())
    if digest != digest_of(store.path, commands):
        raise NotTrusted("the commands of this file are not the ones that were shown", commands)
    trust(store.path, commands)
    return commands
