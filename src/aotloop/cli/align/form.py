"""The guided form: it asks the person for the same facts that an agent would ask for in a dialogue.

The form checks each answer at once. It shows known answers, and Enter keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from aotloop.app.align.draft import WORDS, Draft, DraftAtom, covering_only, without_graph
from aotloop.app.align.project_commands import project_commands
from aotloop.checks.file_check import check_file
from aotloop.cli.align.questions import ask_budget, ask_checks, ask_coverage
from aotloop.cli.ui.output import heading, tell
from aotloop.cli.ui.prompts import ask
from aotloop.core.graph.work_graph import highest_number
from aotloop.core.model import Loop
from aotloop.text.sanitize import prose, visible

QUESTIONS = {
    "goal": "What do you want to achieve, in one sentence?",
    "background_intent": "Why do you want it?",
    "deliverables": "What should exist at the end?",
    "definition_of_done": "How can a person see that it is done?",
}
USUAL = {"deliverables": "What the goal names", "definition_of_done": "Every check of the base case holds"}
"""Answers that Enter gives."""

Keep = Callable[[Draft], None]
"""Hears the draft after each answer, so that no answer is lost."""


def fill_in(draft: Draft, before: Loop | None, root: Path, keep: Keep) -> Draft:
    """`before`: the existing loop, if the person aligns it again."""
    for name in WORDS:
        draft = replace(draft, **{name: _words(QUESTIONS[name], getattr(draft, name), USUAL.get(name))})
        keep(draft)
    base_case = ask_checks(draft.base_case, project_commands(root))
    draft = replace(draft, base_case=base_case, atoms=covering_only(draft.atoms, base_case))
    keep(draft)
    draft = replace(draft, protect=_patterns(draft.protect or (), root))
    keep(draft)
    draft = ask_budget(ask_coverage(_work(draft, keep), before), before)
    keep(draft)
    return draft


def _words(question: str, now: str, usual: str | None) -> str:
    tell(question, style=heading, err=True)
    if now.strip():
        tell(prose(now), head="  now: ", err=True)
    while True:
        answer = ask("(Enter keeps it) >" if now.strip() else f"(Enter: {usual}) >" if usual is not None else ">")
        if answer or now.strip() or usual:
            return answer or now.strip() or usual or ""
        tell("This answer is required: without it, the loop cannot be judged.", err=True)


def _patterns(now: tuple[str, ...], root: Path) -> tuple[str, ...]:
    tell(
        "Which files must agents not change? One glob per line, such as tests/**; Enter ends.", style=heading, err=True
    )
    if now:
        tell(prose(", ".join(now)), head="  now: ", err=True)
        if ask("Keep them? [Y/n]").lower() in ("n", "no"):
            now = ()
    patterns = list(now)
    while pattern := ask("  >"):
        if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
            tell("Write the path relative to the project.", err=True)
        else:
            patterns.append(pattern)
            if not check_file(pattern, root=root).passed:
                tell(f"No file matches {prose(pattern)} now; it protects files that come later.", head="  ", err=True)
    return tuple(dict.fromkeys(patterns))


# --- the work ----------------------------------------------------------------------------------------------------


def _work(draft: Draft, keep: Keep) -> Draft:
    tell("What has to be done? Enter one atom per line; Enter ends.", style=heading, err=True)
    if draft.atoms:
        for atom in draft.atoms[:20]:
            tell(prose(atom.description), head=f"  {visible(atom.id or '')}  ", err=True)
        if len(draft.atoms) > 20:
            tell(f"  … {len(draft.atoms) - 20} more", err=True)
        if ask("Keep them? [Y/n]").lower() in ("n", "no"):
            draft = without_graph(draft)
    while description := ask("  What?"):
        draft = _with_atom(draft, description)
        keep(draft)
    if not draft.atoms:
        tell("The loop gets one atom for all the work.", err=True)
    return draft


def _with_atom(draft: Draft, description: str) -> Draft:
    known = {atom.id: atom for atom in draft.atoms if atom.id is not None}
    new = f"A{highest_number(known) + 1}"
    after = _known("  After which atoms? (ids; Enter: none)", known) if known else ()
    instead = _known("  Instead of which one, as another way to do the same? (Enter: none)", known, single=True)
    run = ask("  Which command does it? (Enter: an agent does it)")
    group = None
    if instead:
        other = known[instead[0]]
        group = other.or_group or f"instead_of_{other.id}"
        draft = replace(draft, atoms=tuple(_in_group(atom, other, group) for atom in draft.atoms))
        named = draft.or_groups.get(group)
        if named is not None and named.choices:
            draft = replace(draft, or_groups={**draft.or_groups, group: replace(named, choices=(*named.choices, new))})
    atom = DraftAtom(id=new, description=description, depends_on=after, or_group=group, run=run or None)
    tell(f"The new atom is {new}.", head="  ", err=True)
    return replace(draft, atoms=(*draft.atoms, atom))


def _in_group(atom: DraftAtom, other: DraftAtom, group: str) -> DraftAtom:
    return replace(atom, or_group=group) if atom is other else atom


def _known(question: str, known: dict[str, DraftAtom], *, single: bool = False) -> tuple[str, ...]:
    if not known:
        return ()
    while True:
        ids = tuple(dict.fromkeys(ask(question).replace(",", " ").split()))
        unknown = [each for each in ids if each not in known]
        if unknown:
            tell(
                f"  Unknown: {prose(', '.join(unknown))}. Known atoms: {visible(', '.join(list(known)[-20:]))}",
                err=True,
            )
        elif single and len(ids) > 1:
            tell("  Name only one atom.", err=True)
        else:
            return ids
