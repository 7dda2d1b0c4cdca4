"""add_atom, decompose_atom, switch_or_branch: changing the work graph."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from aotloop.app.atoms import NewAtom, Part, add_atom, covers_in, decompose_atom, select_choice
from aotloop.app.loops import open_store
from aotloop.scripts.arguments import Option, Usage, UsageError, comma_separated
from aotloop.scripts.json_output import Script

BETWEEN_DESCRIPTIONS = "|||"
"""Also between items of the base case: both are sentences, in which there may be commas."""


def _add_atom(given: dict[str, Any]) -> dict[str, Any]:
    new = NewAtom(
        atom=given["atom_id"],
        description=given["description"],
        depends_on=given["depends_on"],
        or_group=given["or_group"],
        covers=given["covers"],
    )
    add_atom(open_store(given["state_file"]), new)
    return {
        "success": True,
        "atom_id": new.atom,
        "depends_on": list(new.depends_on),
        "or_group": new.or_group,
        **({"covers": list(new.covers)} if new.covers else {}),
    }


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(BETWEEN_DESCRIPTIONS))))


def _decompose_atom(given: dict[str, Any]) -> dict[str, Any]:
    ids = given["children"]
    descriptions = [text.strip() for text in given["descriptions"].split(BETWEEN_DESCRIPTIONS)]
    if len(ids) != len(descriptions):
        raise UsageError(f"{len(ids)} children, but {len(descriptions)} descriptions (separated by |||)")
    if strangers := [name for name in given["probe"] if name not in ids]:
        raise UsageError(f"--probe names atoms that are not children: {', '.join(strangers)}")
    covers = _covers_of(given["covers"], ids)
    parts = tuple(
        Part(atom=child, description=text, covers=covers.get(child, ()), probe=child in given["probe"])
        for child, text in zip(ids, descriptions, strict=True)
    )
    store = open_store(given["state_file"])
    added = decompose_atom(store, given["parent"], parts, given["reason"])
    result = {"success": True, "parent": given["parent"], "children": list(added), "reason": given["reason"]}
    if covers:
        taken = covers_in(store.load(), tuple(covers))
        left_out = [covered for child, items in covers.items() for covered in items if covered not in taken[child]]
        result |= {"covers": taken, "not_in_base_case": list(dict.fromkeys(left_out))}
    return result


def _covers_of(pairs: tuple[str, ...], ids: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """From child=item."""
    covers: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        child, _, item = pair.partition("=")
        if child not in ids or not item:
            raise UsageError(f"--covers says child=item, separated by |||; {pair!r} names none of {', '.join(ids)}")
        covers[child] = (*covers.get(child, ()), item)
    return covers


def _switch_or_branch(given: dict[str, Any]) -> dict[str, Any]:
    switched = select_choice(open_store(given["state_file"]), given["group"], given["choice"], given["reason"])
    return {"success": True, **to_builtins(switched)}


_REASON = Option(required=True)

ADD_ATOM = Script(
    Usage(
        "Add an atom to the graph.",
        ("atom_id",),
        {
            "--description": Option(required=True),
            "--depends-on": Option(comma_separated, ()),
            "--or-group": Option(),
            "--covers": Option(_sentences, ()),
        },
    ),
    _add_atom,
)
DECOMPOSE_ATOM = Script(
    Usage(
        "Split an atom into children, which take over its dependencies.",
        ("parent",),
        {
            "--children": Option(comma_separated, required=True),
            "--descriptions": Option(required=True),
            "--reason": _REASON,
            "--covers": Option(_sentences, ()),
            "--probe": Option(comma_separated, ()),
        },
    ),
    _decompose_atom,
)
SWITCH_OR_BRANCH = Script(
    Usage("Give up the selected choice of a group for another.", ("group", "choice"), {"--reason": _REASON}),
    _switch_or_branch,
)
