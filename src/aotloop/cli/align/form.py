"""The guided form: it asks the person for the same facts that an agent would ask for in a dialogue.

The form checks each answer at once. It shows known answers, and Enter keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from aotloop.app.align.draft import WORDS, Draft, DraftAtom, covering_only, without_graph
from aotloop.app.align.graph_lines import connected, with_atoms
from aotloop.app.align.project_commands import project_commands
from aotloop.app.preflight.protected_files import protecting_nothing
from aotloop.cli.align.questions import ask_budget, ask_checks, ask_coverage
from aotloop.cli.ui.output import heading, tell
from aotloop.cli.ui.prompts import ask
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.text.sanitize import prose, visible

QUESTIONS = {
    "goal": "What do you want to achieve, in one sentence?",
    "background_intent": "Why do you want it?",
    "deliverables": "What should exist at the end?",
    "definition_of_done": "How can a person see that it is done?",
}
USUAL = {"deliverables": "What the goal names", "definition_of_done": "Every check of the base case holds"}
"""Answers that Enter gives."""
MOST_SHOWN = 20
"""Atoms in a list."""

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
            for doubt in protecting_nothing((pattern,), root):
                tell(prose(doubt), head="  ", err=True)
    return tuple(dict.fromkeys(patterns))


# --- the work ----------------------------------------------------------------------------------------------------


def _work(draft: Draft, keep: Keep) -> Draft:
    tell("What has to be done? Enter one atom per line; Enter ends.", style=heading, err=True)
    if draft.atoms:
        for atom in draft.atoms[:MOST_SHOWN]:
            tell(prose(atom.description), head=f"  {visible(atom.id or '')}  ", err=True)
        if len(draft.atoms) > MOST_SHOWN:
            tell(f"  … {len(draft.atoms) - MOST_SHOWN} more", err=True)
        if ask("Keep them? [Y/n]").lower() in ("n", "no"):
            draft = without_graph(draft)
    kept = len(draft.atoms)
    while description := ask("  What?"):
        draft = with_atoms(draft, [description])
        keep(draft)
    if not draft.atoms:
        tell("The loop gets one atom for all the work.", err=True)
    return _connections(draft, keep) if len(draft.atoms) > kept else draft


def _connections(draft: Draft, keep: Keep) -> Draft:
    """One question about all atoms. It is asked again only after a change."""
    tell("How are they connected? They run at the same time where nothing says otherwise.", style=heading, err=True)
    while True:
        for atom in draft.atoms[-MOST_SHOWN:]:
            tell(prose(atom.description), head=f"  {visible(atom.id or '')}  ", note=_connection(atom), err=True)
        line = ask("(Enter: as shown; else A2 after A1, A3 instead of A2, A2 runs COMMAND) >")
        if not line:
            return draft
        try:
            draft = connected(draft, line)
            keep(draft)
        except AotError as error:
            tell(prose(" ".join(filter(None, (f"{error.message}.", error.hint)))), head="  ", err=True)


def _connection(atom: DraftAtom) -> str:
    facts = [
        f"after {visible(', '.join(atom.depends_on))}" if atom.depends_on else "",
        f"one of {visible(atom.or_group)}" if atom.or_group is not None else "",
        f"$ {visible(atom.run)}" if atom.run is not None else "",
    ]
    return " · ".join(filter(None, facts))
