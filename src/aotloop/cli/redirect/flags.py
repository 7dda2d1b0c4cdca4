"""The flags of `aot redirect`: one for each thing that can be changed, and the changes they ask for together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from aotloop.app.atoms import NewAtom
from aotloop.app.redirect.changes import Changes, Result, checklist_of
from aotloop.app.redirect.checklist_text import read_base_case
from aotloop.app.redirect.constraint_text import limit_of
from aotloop.cli.ui.loop_names import complete_atom, complete_group
from aotloop.cli.ui.options import AMOUNT, WORDS, Words
from aotloop.core.model import Loop
from aotloop.errors import AotError

F = TypeVar("F", bound=Callable[..., Any])

OF_THE_ADDED = {"atom": "--id", "after": "--after", "in_group": "--in-group", "run": "--run", "estimate": "--estimate"}


class Limit(click.ParamType[tuple[str, Any]]):
    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        try:
            return limit_of(str(value))
        except AotError as error:
            self.fail(" ".join(filter(None, (f"{error.message}.", error.hint))), param, ctx)


class Pair(Words):
    """Two names with `=` between them; only the loop knows which of several `=` is the separator."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx)
        left, _, right = text.partition("=")
        if not left.strip() or not right.strip():
            self.fail(f"{text!r} is not of the form {param.metavar if param is not None else 'A=B'}.", param, ctx)
        return text


FLAGS = (
    click.option("--goal", type=WORDS, help="Alignment: what you want to achieve."),
    click.option("--background-intent", type=WORDS, help="Alignment: why you want it."),
    click.option("--deliverables", type=WORDS, help="Alignment: what should exist at the end."),
    click.option("--definition-of-done", type=WORDS, help="Alignment: how a person can see that it is done."),
    click.option(
        "--command",
        "commands",
        type=WORDS,
        multiple=True,
        help="Alignment: a command that succeeds when it is done (repeatable); the base case is a checklist of them.",
    ),
    click.option(
        "--base-case",
        type=click.File("rb"),
        metavar="FILE",
        help="Alignment: the base case, as YAML; - reads it from standard input.",
    ),
    click.option(
        "--protect", type=WORDS, multiple=True, metavar="GLOB", help="Alignment: files agents must not change."
    ),
    click.option("--unprotect", type=WORDS, multiple=True, metavar="GLOB", help="Alignment: remove a --protect."),
    click.option(
        "--set",
        "limits",
        type=Limit(),
        multiple=True,
        metavar="NAME=VALUE",
        help="A constraint, such as effort=high or max_iterations=40; `none` unsets one.",
    ),
    click.option("--add", "description", type=WORDS, metavar="DESCRIPTION", help="Add an atom."),
    click.option("--id", "atom", type=WORDS, help="Id of the added atom [default: the next free A<n>]."),
    click.option(
        "--after",
        type=WORDS,
        multiple=True,
        metavar="ATOM",
        shell_complete=complete_atom,
        help="An atom that the added atom waits for (repeatable).",
    ),
    click.option(
        "--in-group", type=WORDS, metavar="GROUP", shell_complete=complete_group, help="The group of the added atom."
    ),
    click.option("--run", type=WORDS, metavar="CMD", help="A command that does the added atom."),
    click.option("--estimate", type=AMOUNT, help="Minutes the added atom will take."),
    click.option(
        "--remove",
        type=WORDS,
        multiple=True,
        metavar="ATOM",
        shell_complete=complete_atom,
        help="Remove an atom (repeatable).",
    ),
    click.option(
        "--choose", type=Pair(), multiple=True, metavar="GROUP=ATOM", help="Continue with this choice, failed or not."
    ),
    click.option(
        "--summary",
        type=Pair(),
        multiple=True,
        metavar="ATOM=TEXT",
        help="Describe a result again; work based on it is repeated.",
    ),
    click.option(
        "--retry",
        type=WORDS,
        multiple=True,
        metavar="ATOM",
        shell_complete=complete_atom,
        help="Let an atom start again: its failures no longer count, and it gets its share of attempts again.",
    ),
    click.option("--accept", is_flag=True, help="Accept an objective that was changed directly in the file."),
)


def flags(function: F) -> F:
    for option in reversed(FLAGS):
        function = option(function)
    return function


def is_any(given: dict[str, Any]) -> bool:
    return any(bool(value) for value in given.values())


def changes_of(given: dict[str, Any], loop: Loop, reason: str | None) -> Changes:
    """Of those flags that were given; `loop` is only asked for its names."""
    _refuse_contradictions(given)
    words = ("goal", "background_intent", "deliverables", "definition_of_done")
    base_case = checklist_of(given["commands"]) if given["commands"] else None
    if given["base_case"] is not None:
        base_case = read_base_case(given["base_case"].read(), given["base_case"].name)
    return Changes(
        words={name: given[name] for name in words if given[name] is not None},
        base_case=base_case,
        protect=given["protect"],
        unprotect=given["unprotect"],
        limits=dict(given["limits"]),
        added=_added(given),
        removed=_each_once(given["remove"]),
        chosen=tuple(_split(pair, loop.or_groups) for pair in given["choose"]),
        results=tuple(_result(pair, loop) for pair in given["summary"]),
        retried=_each_once(given["retry"]),
        takes_file=given["accept"],
        reason=reason,
        commands=tuple(filter(None, (*given["commands"], given["run"]))),
    )


def _refuse_contradictions(given: dict[str, Any]) -> None:
    if given["commands"] and given["base_case"] is not None:
        raise click.UsageError("--command and --base-case both set the base case; use only one of them")
    if given["accept"] and is_any({**given, "accept": False}):
        raise click.UsageError("--accept accepts the objective in the file; make other changes in a second command")
    if given["description"] is None:
        for name, flag in OF_THE_ADDED.items():
            if given[name]:
                raise click.UsageError(f"{flag} describes an added atom; use it together with --add")


def _added(given: dict[str, Any]) -> NewAtom | None:
    if given["description"] is None:
        return None
    return NewAtom(
        description=given["description"],
        atom=given["atom"],
        depends_on=_each_once(given["after"]),
        or_group=given["in_group"],
        run=given["run"],
        estimate=given["estimate"],
    )


def _result(pair: str, loop: Loop) -> Result:
    atom, summary = _split(pair, [other.id for other in loop.atoms])
    return Result(atom=atom, summary=summary)


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _split(pair: str, known: Iterable[str]) -> tuple[str, str]:
    """Splits at the `=` that leaves a known name; names may contain `=` themselves."""
    for name in sorted(known, key=len, reverse=True):
        if pair.startswith(f"{name}="):
            return name, pair[len(name) + 1 :].strip()
    left, _, right = pair.partition("=")
    return left.strip(), right.strip()
