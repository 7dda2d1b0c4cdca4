"""Connections of atoms, one line each: which atom waits for which, which replaces which, and which command does it.

    A3 after A1, A2        A3 after -        A4 instead of A2        A5 runs make docs

Some are proposed from descriptions: an atom that names the same file as an earlier one comes after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from aotloop.app.align.draft import Draft, DraftAtom
from aotloop.core.graph.work_graph import highest_number
from aotloop.errors import AotError

NOTHING = "-"
HINT = "Write `A2 after A1`, `A3 instead of A2`, or `A2 runs COMMAND`."
_FILE = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,9}(?![\w/-])")
_LINE = re.compile(r"(?P<atom>\S+)\s+(?P<word>after|instead of|runs)\s+(?P<rest>.+)", re.IGNORECASE | re.DOTALL)


def with_atoms(draft: Draft, descriptions: Sequence[str]) -> Draft:
    """The draft with an atom for each description, and with the connections that their words name."""
    for description in descriptions:
        known = [atom for atom in draft.atoms if atom.id is not None]
        new = f"A{highest_number([atom.id or '' for atom in known]) + 1}"
        after = tuple(atom.id or "" for atom in known if _files(atom.description) & _files(description))
        draft = replace(draft, atoms=(*draft.atoms, DraftAtom(id=new, description=description, depends_on=after)))
    return draft


def connected(draft: Draft, line: str) -> Draft:
    """Raises AotError if the line is not understood; then the draft is as it was."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise AotError("this is not understood", hint=HINT)
    known = {atom.id: atom for atom in draft.atoms if atom.id is not None}
    atom, rest = _atom(known, match["atom"]), match["rest"].strip()
    word = match["word"].lower()
    if word == "runs":
        return _with(draft, replace(atom, run=None if rest == NOTHING else rest))
    names = () if rest == NOTHING else tuple(dict.fromkeys(rest.replace(",", " ").split()))
    others = [_atom(known, name) for name in names]
    if atom in others:
        raise AotError(f"{atom.id} cannot be connected with itself", hint=HINT)
    if word == "after":
        return _with(draft, replace(atom, depends_on=names))
    if len(others) != 1:
        raise AotError("name only one atom that it replaces", hint=HINT)
    return _instead(draft, atom, others[0])


def _instead(draft: Draft, atom: DraftAtom, other: DraftAtom) -> Draft:
    """Both become choices of one group. The second waits for the same atoms as the first, unless it says otherwise."""
    group = other.or_group or f"instead_of_{other.id}"
    needs = tuple(name for name in atom.depends_on if name != other.id)
    draft = _with(_with(draft, replace(other, or_group=group)), replace(atom, or_group=group, depends_on=needs))
    named = draft.or_groups.get(group)
    if named is not None and named.choices and atom.id is not None and atom.id not in named.choices:
        return replace(draft, or_groups={**draft.or_groups, group: replace(named, choices=(*named.choices, atom.id))})
    return draft


def _with(draft: Draft, changed: DraftAtom) -> Draft:
    return replace(draft, atoms=tuple(changed if atom.id == changed.id else atom for atom in draft.atoms))


def _atom(known: dict[str, DraftAtom], name: str) -> DraftAtom:
    found = known.get(name) or next(
        (atom for known_name, atom in known.items() if known_name.lower() == name.lower()), None
    )
    if found is None:
        raise AotError(f"there is no atom {name}; known atoms: {', '.join(list(known)[-20:])}")
    return found


def _files(text: str) -> set[str]:
    return set(_FILE.findall(text))
