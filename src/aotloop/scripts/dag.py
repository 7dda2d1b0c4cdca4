"""add_atom, decompose_atom, switch_or_branch, fail_atom, record_probe: changing the work graph."""

from __future__ import annotations

from typing import Any

from aotloop import app
from aotloop.core import events
from aotloop.core.effects import Added, Backtracked, Effect
from aotloop.scripts.arguments import Option, Usage, UsageError, comma_separated, truth
from aotloop.scripts.output import Script

BETWEEN_DESCRIPTIONS = "|||"
"""Also between items of the base case: both are sentences, in which there may be commas."""


def _add_atom(given: dict[str, Any]) -> dict[str, Any]:
    event = events.AtomAdded(
        atom=given["atom_id"],
        description=given["description"],
        depends_on=given["depends_on"],
        or_group=given["or_group"],
        covers=given["covers"],
    )
    app.apply(app.open_store(given["state_file"]), event)
    return {
        "success": True,
        "atom_id": event.atom,
        "depends_on": list(event.depends_on),
        "or_group": event.or_group,
        **({"covers": list(event.covers)} if event.covers else {}),
    }


def _sentences(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in text.split(BETWEEN_DESCRIPTIONS))))


def _decompose_atom(given: dict[str, Any]) -> dict[str, Any]:
    ids = given["children"]
    descriptions = [text.strip() for text in given["descriptions"].split(BETWEEN_DESCRIPTIONS)]
    if len(ids) != len(descriptions):
        raise UsageError(f"{len(ids)} children, but {len(descriptions)} descriptions (separated by |||)")
    if strangers := [one for one in given["probe"] if one not in ids]:
        raise UsageError(f"--probe names what is none of the children: {', '.join(strangers)}")
    covers = _covers_of(given["covers"], ids)
    children = tuple(
        events.Child(atom=child, description=text, covers=covers.get(child, ()), probe=child in given["probe"])
        for child, text in zip(ids, descriptions, strict=True)
    )
    event = events.AtomDecomposed(parent=given["parent"], children=children, reason=given["reason"])
    store = app.open_store(given["state_file"])
    effects = app.apply(store, event)
    added = [atom for effect in effects if isinstance(effect, Added) for atom in effect.atoms]
    result = {"success": True, "parent": event.parent, "children": added, "reason": event.reason}
    if covers:
        taken = {atom.id: list(atom.covers) for atom in store.load().atoms if atom.id in covers}
        left_out = [one for child, items in covers.items() for one in items if one not in taken[child]]
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
    """A choice that has had its turn may be taken again: that begins another round."""
    event = events.BranchSwitched(or_group=given["group"], choice=given["choice"], reason=given["reason"], at=app.now())
    store = app.open_store(given["state_file"])
    effects = app.apply(store, event)
    return {"success": True, **_backtracked(effects), "round": store.load().or_groups[event.or_group].round}


def _fail_atom(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.session.failing import Failure, fail  # noqa: PLC0415 - each script needs its own part

    failure = Failure(
        reason=given["reason"],
        because_of=given["because_of"],
        progress=given["progress"],
        wants_probe=given["wants_probe"],
    )
    came = fail(app.open_store(given["state_file"]), given["atom_id"], failure)
    return {"success": True, "atom_id": given["atom_id"], "reason": failure.reason, **came.as_data()}


def _record_probe(given: dict[str, Any]) -> dict[str, Any]:
    from aotloop.session.failing import probe  # noqa: PLC0415

    came = probe(
        app.open_store(given["state_file"]),
        given["atom_id"],
        feasible=given["feasible"],
        findings=given["findings"],
        estimate=given["estimate"],
    )
    return {"success": True, "atom_id": given["atom_id"], "feasible": given["feasible"], **came.as_data()}


def _backtracked(effects: list[Effect]) -> dict[str, Any]:
    for effect in effects:
        if isinstance(effect, Backtracked):
            return {
                "or_group": effect.or_group,
                "left": effect.left,
                "selected": effect.selected,
                "reset": list(effect.reset),
                "undone": list(effect.undone),
            }
    return {}


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
FAIL_ATOM = Script(
    Usage(
        "Record a failed attempt, and what comes next. --because-of: atoms whose results are in its way; --progress:"
        " part of the work holds; --wants-probe: a probe is to look before the next attempt.",
        ("atom_id",),
        {
            "--reason": _REASON,
            "--because-of": Option(comma_separated, ()),
            "--progress": Option(None),
            "--wants-probe": Option(None),
        },
    ),
    _fail_atom,
)
RECORD_PROBE = Script(
    Usage(
        "Record what a probe found out. A no is evidence: it counts as one turn that led nowhere.",
        ("atom_id",),
        {
            "--feasible": Option(truth, required=True),
            "--findings": Option(required=True),
            "--estimate": Option(float),
        },
    ),
    _record_probe,
)
