"""The guided form: what an agent would find out in a dialogue is asked for, one thing after another.

Every answer is looked at as soon as it is given. What is known already is shown, and Enter keeps it.
"""

from __future__ import annotations

from msgspec.structs import replace

from aotloop.alignment.draft import WORDS, Draft, DraftAtom, covering_only, without_graph
from aotloop.cli.aligning.budget import ask_budget
from aotloop.cli.aligning.checks import ask_checks
from aotloop.cli.aligning.coverage import ask_coverage
from aotloop.cli.asking import ask
from aotloop.cli.foreign import prose, visible
from aotloop.cli.output import heading, tell
from aotloop.core.graph import highest_number
from aotloop.core.model import Loop

QUESTIONS = {
    "goal": "What is to be achieved, in one sentence?",
    "background_intent": "Why is it wanted?",
    "deliverables": "What should be there in the end?",
    "definition_of_done": "How would a person tell that it is done?",
}


def fill_in(draft: Draft, before: Loop | None) -> Draft:
    """`before`: the loop that is aligned again."""
    for name in WORDS:
        draft = replace(draft, **{name: _words(QUESTIONS[name], getattr(draft, name))})
    base_case = ask_checks(draft.base_case)
    draft = replace(draft, base_case=base_case, atoms=covering_only(draft.atoms, base_case))
    draft = replace(draft, protect=_patterns(draft.protect or ()))
    return ask_budget(ask_coverage(_work(draft), before), before)


def _words(question: str, now: str) -> str:
    tell(question, style=heading, err=True)
    if now.strip():
        tell(prose(now), head="  now: ", err=True)
    while True:
        answer = ask("(Enter keeps it) >" if now.strip() else ">")
        if answer or now.strip():
            return answer or now
        tell("It has to be said: nobody could tell otherwise.", err=True)


def _patterns(now: tuple[str, ...]) -> tuple[str, ...]:
    tell(
        "Which files may no agent change? One glob on each line, such as tests/**; Enter ends.", style=heading, err=True
    )
    if now:
        tell(prose(", ".join(now)), head="  now: ", err=True)
        if ask("Keep them? [Y/n]").lower() in ("n", "no"):
            now = ()
    patterns = list(now)
    while pattern := ask("  >"):
        if pattern.startswith(("/", "~")) or ".." in pattern.split("/"):
            tell("Write it as seen from the project.", err=True)
        else:
            patterns.append(pattern)
    return tuple(dict.fromkeys(patterns))


# --- the work ----------------------------------------------------------------------------------------------------


def _work(draft: Draft) -> Draft:
    tell("What is to be done? One atom after another; Enter ends.", style=heading, err=True)
    if draft.atoms:
        for atom in draft.atoms[:20]:
            tell(prose(atom.description), head=f"  {visible(atom.id or '')}  ", err=True)
        if len(draft.atoms) > 20:
            tell(f"  … {len(draft.atoms) - 20} more", err=True)
        if ask("Keep them? [Y/n]").lower() in ("n", "no"):
            draft = without_graph(draft)
    while description := ask("  What?"):
        draft = _with_atom(draft, description)
    if not draft.atoms:
        tell("Then there is one atom, which is all of it.", err=True)
    return draft


def _with_atom(draft: Draft, description: str) -> Draft:
    known = {atom.id: atom for atom in draft.atoms if atom.id is not None}
    new = f"A{highest_number(known) + 1}"
    after = _known("  After which atoms? (ids; Enter: none)", known) if known else ()
    instead = _known("  Instead of which one, as another way to do the same? (Enter: none)", known, one=True)
    run = ask("  By which command? (Enter: an agent does it)")
    group = None
    if instead:
        other = known[instead[0]]
        group = other.or_group or f"instead_of_{other.id}"
        draft = replace(draft, atoms=tuple(_in_group(atom, other, group) for atom in draft.atoms))
        named = draft.or_groups.get(group)
        if named is not None and named.choices:
            draft = replace(draft, or_groups={**draft.or_groups, group: replace(named, choices=(*named.choices, new))})
    atom = DraftAtom(id=new, description=description, depends_on=after, or_group=group, run=run or None)
    tell(f"It is {new}.", head="  ", err=True)
    return replace(draft, atoms=(*draft.atoms, atom))


def _in_group(atom: DraftAtom, other: DraftAtom, group: str) -> DraftAtom:
    return replace(atom, or_group=group) if atom is other else atom


def _known(question: str, known: dict[str, DraftAtom], *, one: bool = False) -> tuple[str, ...]:
    if not known:
        return ()
    while True:
        ids = tuple(dict.fromkeys(ask(question).replace(",", " ").split()))
        unknown = [each for each in ids if each not in known]
        if unknown:
            tell(
                f"  There is no {prose(', '.join(unknown))}; there are: {visible(', '.join(list(known)[-20:]))}",
                err=True,
            )
        elif one and len(ids) > 1:
            tell("  Name one.", err=True)
        else:
            return ids
