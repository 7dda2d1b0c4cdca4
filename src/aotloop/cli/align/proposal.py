"""Shows a proposal to the person, with every command in full, because agreement permits these commands."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import click

from aotloop.app.align.shape import Shape
from aotloop.app.diagram import draw
from aotloop.cli.ui.output import faint, heading, tell
from aotloop.core.checks.checklist import AllOf, Leaf, Node, base_case_tree
from aotloop.core.commands import commands_of
from aotloop.core.limits import limits_of
from aotloop.core.measure import attempts_allowed
from aotloop.core.model import Atom, Constraints, Loop, Objective
from aotloop.text.phrases import counted
from aotloop.text.sanitize import prose, visible

MOST_DRAWN = 60
"""Number of atoms. A larger graph is not readable as a picture."""


def show(shape: Shape) -> None:
    click.echo(err=True)
    objective = shape.loop.objective
    tell(prose(objective.goal) or "(no goal yet)", style=heading, err=True)
    _show_words(shape.loop)
    tell("Done when all of this holds:", err=True)
    for line in _lines(base_case_tree(objective.base_case)) if _has_base_case(objective) else ["  (nothing yet)"]:
        click.echo(line, err=True)
    _show_graph(shape)
    for missing in shape.gate.missing:
        tell(f"missing: {prose(missing)}", head=f"  {click.style('•', fg='red')} ", err=True)
    for doubt in shape.gate.warnings:
        tell(prose(doubt), head=f"  {click.style('•', fg='yellow')} ", err=True)


def _show_words(loop: Loop) -> None:
    objective = loop.objective
    limits = [
        f"{name} {getattr(objective.constraints, name)}"
        for name in Constraints.__struct_fields__
        if name != "effort" and getattr(objective.constraints, name) != getattr(Constraints(), name)
    ]
    for name, text in (
        ("why", objective.background_intent),
        ("deliverables", objective.deliverables),
        ("done when", objective.definition_of_done),
        ("protected", ", ".join(objective.protect)),
        ("limits", ", ".join(limits)),
        ("effort", effort_in_words(loop)),
    ):
        for number, line in enumerate(filter(str.strip, text.split("\n"))):
            tell(prose(line), head=f"  {name if number == 0 else '':<12}  ", err=True)


def effort_in_words(loop: Loop) -> str:
    """Explains the effort: the largest number of attempts."""
    constraints = loop.objective.constraints
    limits, most = limits_of(constraints), attempts_allowed(loop)
    share = f", {limits.attempts_per_atom} for each atom" if limits.max_total_attempts is None else ""
    turn = f"{limits.max_attempts} in a row before an alternative is tried"
    return f"{constraints.effort}: at most {most} attempts in all{share}; {turn}"


def _has_base_case(objective: Objective) -> bool:
    return objective.base_case.type is not None or bool(objective.base_case.checklist)


def _lines(node: Node, indent: int = 1) -> Iterator[str]:
    for child in node.children if not isinstance(node, Leaf) else ():
        space = "  " * indent
        if isinstance(child, Leaf):
            yield f"{space}• {prose(child.name)}"
            yield from _check(child, space)
        else:
            kind = "all of" if isinstance(child, AllOf) else "one of"
            yield f"{space}• {prose(child.name)} {faint(f'({kind})')}"
            yield from _lines(child, indent + 1)


def _check(leaf: Leaf, space: str) -> Iterator[str]:
    check = leaf.check
    if check.type in ("command", "not_command"):
        first, *others = (check.value or "").split("\n")
        note = faint("  must fail") if check.type == "not_command" else ""
        yield f"{space}  {click.style('$', fg='yellow')} {visible(first)}{note}"
        for line in others:
            yield f"{space}  {click.style('>', fg='yellow')} {visible(line)}"
    elif check.type in ("file", "not_file"):
        yield f"{space}  {visible(check.value or '')} {faint('exists' if check.type == 'file' else 'does not exist')}"
    else:
        rubric = ", ".join(rule.criterion for rule in check.rubric or ())
        threshold = f", at least {check.pass_threshold:g} of 5" if check.pass_threshold is not None else ""
        yield f"{space}  {prose(check.value or check.criteria or rubric)} {faint(f'{check.type}{threshold}')}"


def _show_graph(shape: Shape) -> None:
    atoms = shape.loop.atoms
    tell(f"The work: {counted(len(atoms), 'atom')}", err=True)
    if not shape.gate.ready or len(atoms) > MOST_DRAWN:
        for atom in atoms[:MOST_DRAWN]:
            tell(prose(atom.description), head=f"  {visible(atom.id)}  ", note=_after(atom), err=True)
    else:
        coloured = click.get_current_context().color is not False
        width = shutil.get_terminal_size().columns
        click.echo(draw(shape.loop, "text", width=width, colour=coloured).rstrip("\n"), err=True)
    if len(atoms) > MOST_DRAWN:
        tell(f"  … {len(atoms) - MOST_DRAWN} more", style=faint, err=True)
    for atom in [drawn for drawn in atoms[:MOST_DRAWN] if drawn.covers]:
        tell(prose("; ".join(atom.covers)), head=f"  {visible(atom.id)} makes true: ", err=True)
    shown = set(commands_of_base_case(shape))
    for command in [text for text in commands_of(shape.loop) if text not in shown]:
        tell(visible(command), head=f"  {click.style('$', fg='yellow')} ", note="of an atom", err=True)


def commands_of_base_case(shape: Shape) -> list[str]:
    only = shape.loop.snapshot()
    only.atoms = []
    return commands_of(only)


def _after(atom: Atom) -> str:
    return f"after {visible(', '.join(atom.depends_on))}" if atom.depends_on else ""
