"""What is asked about each kind of change: a question or two, answered by changes, or by None for "rather not"."""

from __future__ import annotations

from collections.abc import Callable

from aotloop.app.atoms import NewAtom
from aotloop.app.redirect.changes import Changes, Result, checklist_of
from aotloop.app.redirect.constraint_text import in_force, limit_of
from aotloop.cli.ui.failures import failures_of
from aotloop.cli.ui.output import tell
from aotloop.cli.ui.prompts import ask, pick
from aotloop.core.checks.checklist import base_case_tree
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Atom, Loop
from aotloop.text.sanitize import prose, visible

Asked = Callable[[Loop], Changes | None]

OF_OBJECTIVE = {
    "goal": "what you want to achieve",
    "background_intent": "why",
    "deliverables": "what should exist at the end",
    "definition_of_done": "how a person can see that it is done",
    "base_case": "the commands that succeed when it is done",
    "protect": "files that agents must not change",
    "unprotect": "files that agents may change again",
}


def about_objective(loop: Loop) -> Changes | None:
    field = pick("Which part?", list(OF_OBJECTIVE), list(OF_OBJECTIVE.values()))
    if field is None:
        return None
    if field == "base_case":
        return _about_base_case(loop)
    if field in ("protect", "unprotect"):
        tell(f"Protected now: {prose(', '.join(loop.objective.protect)) or 'nothing'}", err=True)
        patterns = (pattern,) if (pattern := ask("Which glob?")) else ()
        changes = Changes(protect=patterns) if field == "protect" else Changes(unprotect=patterns)
        return changes if patterns else None
    tell(f"Now: {prose(getattr(loop.objective, field)) or '(empty)'}", err=True)
    text = ask("What should it be?")
    return Changes(words={field: text}) if text else None


def _about_base_case(loop: Loop) -> Changes | None:
    items = [child.name for child in base_case_tree(loop.objective.base_case).children]
    tell(f"Now: {prose(', '.join(items))}", err=True)
    tell("One command per line; an empty line ends. (For other kinds of base case: --base-case FILE.)", err=True)
    commands: list[str] = []
    while command := ask("  $"):
        commands.append(command)
    if not commands:
        return None
    typed = tuple(dict.fromkeys(commands))
    return Changes(base_case=checklist_of(typed), commands=typed)


def about_limits(loop: Loop) -> Changes | None:
    now = loop.objective.constraints
    names = list(now.__struct_fields__)
    name = pick("Which one?", names, [in_force(now, limit) for limit in names])
    value = ask("What should it be? (none: unset it)") if name is not None else ""
    return Changes(limits=dict([limit_of(f"{name}={value}")])) if value else None


def about_addition(loop: Loop) -> Changes | None:
    description = ask("What has to be done?")
    if not description:
        return None
    after = ask(f"After which atoms? (known: {_listed(loop)}; Enter: none)")
    group = ask("As a choice of which group? (Enter: none)")
    command = ask("Which command does it? (Enter: an agent does it)")
    needs = tuple(dict.fromkeys(after.replace(",", " ").split()))
    added = NewAtom(description=description, depends_on=needs, or_group=group or None, run=command or None)
    return Changes(added=added, commands=(command,) if command else ())


def about_removal(loop: Loop) -> Changes | None:
    parents = {split.parent for split in loop.decompositions}
    atom = _pick_atom(
        "Which one?",
        [atom for atom in loop.atoms if atom.status != "resolved" and atom.id not in parents],
        "everything is resolved",
    )
    return Changes(removed=(atom,)) if atom is not None else None


def about_choice(loop: Loop) -> Changes | None:
    if not loop.or_groups:
        tell("The loop has no OR group.", err=True)
        return None
    groups = list(loop.or_groups)
    group = pick("For which group?", groups, [f"now {loop.or_groups[name].selected}" for name in groups])
    if group is None:
        return None
    choices = [atom for atom in loop.atoms if atom.id in loop.or_groups[group].choices]
    choice = _pick_atom("Which choice?", choices, "it has none")
    return Changes(chosen=((group, choice),)) if choice is not None else None


def about_summary(loop: Loop) -> Changes | None:
    atom = _pick_atom(
        "The result of which atom?",
        [other for other in loop.atoms if other.status == "resolved"],
        "nothing is resolved",
    )
    if atom is None:
        return None
    binding = loop.bindings.get(atom)
    tell(f"Now: {prose(binding.summary) if binding is not None else '(empty)'}", err=True)
    text = ask("What should it be?")
    return Changes(results=(Result(atom=atom, summary=text),)) if text else None


def about_retry(loop: Loop) -> Changes | None:
    graph = Graph(loop)
    failed = [
        atom for atom in loop.atoms if atom.status != "resolved" and (failures_of(atom) or graph.is_exhausted(atom.id))
    ]
    atom = _pick_atom("Which one?", failed, "nothing has failed")
    return Changes(retried=(atom,)) if atom is not None else None


def _pick_atom(question: str, atoms: list[Atom], otherwise: str) -> str | None:
    if not atoms:
        tell(f"No atom can be chosen: {otherwise}.", err=True)
        return None
    return pick(question, [atom.id for atom in atoms], [prose(atom.description) for atom in atoms])


def _listed(loop: Loop) -> str:
    shown = [visible(atom.id) for atom in loop.atoms[-8:]]
    return ("… " if len(loop.atoms) > len(shown) else "") + ", ".join(shown)
