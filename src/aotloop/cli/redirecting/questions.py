"""What is asked about each kind of change: a question or two, answered by wishes, or by None for "rather not"."""

from __future__ import annotations

from collections.abc import Callable

from aotloop.cli.asking import ask, pick
from aotloop.cli.failures import failures_of
from aotloop.cli.foreign import prose, visible
from aotloop.cli.output import tell
from aotloop.cli.redirecting.limits import in_force, limit_of
from aotloop.cli.redirecting.wishes import Wishes, checklist_of
from aotloop.core.checklist import base_case_tree
from aotloop.core.events import AtomAdded
from aotloop.core.graph import Graph
from aotloop.core.model import Atom, Loop

Asked = Callable[[Loop], Wishes | None]

OF_OBJECTIVE = {
    "goal": "what is to be achieved",
    "background_intent": "why",
    "deliverables": "what should be there in the end",
    "definition_of_done": "how a person would tell",
    "base_case": "the commands that succeed when it is done",
    "protect": "files that no agent may change",
    "unprotect": "files that agents may change after all",
}


def about_objective(loop: Loop) -> Wishes | None:
    field = pick("Which part?", list(OF_OBJECTIVE), list(OF_OBJECTIVE.values()))
    if field is None:
        return None
    if field == "base_case":
        return _about_base_case(loop)
    if field in ("protect", "unprotect"):
        tell(f"Protected now: {prose(', '.join(loop.objective.protect)) or 'nothing'}", err=True)
        patterns = (pattern,) if (pattern := ask("Which glob?")) else ()
        wishes = Wishes(protect=patterns) if field == "protect" else Wishes(unprotect=patterns)
        return wishes if patterns else None
    tell(f"It is now: {prose(getattr(loop.objective, field)) or '(empty)'}", err=True)
    text = ask("What should it be?")
    return Wishes(words={field: text}) if text else None


def _about_base_case(loop: Loop) -> Wishes | None:
    items = [child.name for child in base_case_tree(loop.objective.base_case).children]
    tell(f"It is now: {prose(', '.join(items))}", err=True)
    tell("One command on each line, an empty line ends. (A base case of another kind: --base-case FILE.)", err=True)
    commands: list[str] = []
    while command := ask("  $"):
        commands.append(command)
    if not commands:
        return None
    typed = tuple(dict.fromkeys(commands))
    return Wishes(base_case=checklist_of(typed), commands=typed)


def about_limits(loop: Loop) -> Wishes | None:
    now = loop.objective.constraints
    names = list(now.__struct_fields__)
    name = pick("Which one?", names, [in_force(now, one) for one in names])
    value = ask("What should it be? (none: unset it)") if name is not None else ""
    return Wishes(limits=dict([limit_of(f"{name}={value}")])) if value else None


def about_addition(loop: Loop) -> Wishes | None:
    description = ask("What is to be done?")
    if not description:
        return None
    after = ask(f"After which atoms? (of {_listed(loop)}; Enter: none)")
    group = ask("As a choice of which group? (Enter: none)")
    command = ask("By which command? (Enter: an agent does it)")
    needs = tuple(dict.fromkeys(after.replace(",", " ").split()))
    added = AtomAdded(description=description, depends_on=needs, or_group=group or None, run=command or None)
    return Wishes(added=added, commands=(command,) if command else ())


def about_removal(loop: Loop) -> Wishes | None:
    parents = {split.parent for split in loop.decompositions}
    atom = _pick_atom(
        "Which one?",
        [one for one in loop.atoms if one.status != "resolved" and one.id not in parents],
        "everything is resolved",
    )
    return Wishes(removed=(atom,)) if atom is not None else None


def about_choice(loop: Loop) -> Wishes | None:
    if not loop.or_groups:
        tell("There is no group to choose for.", err=True)
        return None
    groups = list(loop.or_groups)
    group = pick("For which group?", groups, [f"now {loop.or_groups[name].selected}" for name in groups])
    if group is None:
        return None
    choices = [one for one in loop.atoms if one.id in loop.or_groups[group].choices]
    choice = _pick_atom("Which choice?", choices, "it has none")
    return Wishes(chosen=((group, choice),)) if choice is not None else None


def about_summary(loop: Loop) -> Wishes | None:
    atom = _pick_atom("Whose result?", [one for one in loop.atoms if one.status == "resolved"], "nothing is resolved")
    if atom is None:
        return None
    binding = loop.bindings.get(atom)
    tell(f"It is now: {prose(binding.summary) if binding is not None else '(empty)'}", err=True)
    text = ask("What should it be?")
    return Wishes(summaries=((atom, text),)) if text else None


def about_retry(loop: Loop) -> Wishes | None:
    graph = Graph(loop)
    failed = [
        one for one in loop.atoms if one.status != "resolved" and (failures_of(one) or graph.is_exhausted(one.id))
    ]
    atom = _pick_atom("Which one?", failed, "nothing has failed")
    return Wishes(retried=(atom,)) if atom is not None else None


def _pick_atom(question: str, atoms: list[Atom], otherwise: str) -> str | None:
    if not atoms:
        tell(f"There is none: {otherwise}.", err=True)
        return None
    return pick(question, [atom.id for atom in atoms], [prose(atom.description) for atom in atoms])


def _listed(loop: Loop) -> str:
    shown = [visible(atom.id) for atom in loop.atoms[-8:]]
    return ("… " if len(loop.atoms) > len(shown) else "") + ", ".join(shown)
