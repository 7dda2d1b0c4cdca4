"""request_redirect, apply_correction: a person changes the direction of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import convert

from aotloop.app.atoms import NewAtom
from aotloop.app.loops import open_store
from aotloop.app.redirect.changes import Changes, Result
from aotloop.app.redirect.transaction import redirect, request_redirect
from aotloop.core.model import BaseCase, Constraints
from aotloop.scripts.arguments import Option, Usage, UsageError, comma_separated
from aotloop.scripts.json_output import Script
from aotloop.statefile.reader import read_value
from aotloop.statefile.store import Store

AGREED = ("goal", "background_intent", "deliverables", "definition_of_done")


def _request_redirect(given: dict[str, Any]) -> dict[str, Any]:
    """Names the atoms that were in progress: their agents are to be stopped, and their results do not count."""
    store = open_store(given["state_file"])
    if given["cancel"] and given["retry"]:
        raise UsageError("--cancel and --retry contradict each other")
    if given["retry"]:
        return _retry(store, given["retry"])
    is_requested = not given["cancel"]
    interrupted = request_redirect(store, is_requested=is_requested)
    return {"success": True, "redirect_requested": is_requested, "interrupted": interrupted}


def _retry(store: Store, atoms: tuple[str, ...]) -> dict[str, Any]:
    """As `aot redirect --retry`: earlier failures of these atoms do not count, and the loop continues at once."""
    reason = f"{', '.join(atoms)} {'gets' if len(atoms) == 1 else 'get'} new attempts"
    applied = redirect(store, Changes(retried=atoms, reason=reason), only_underway=False)
    return {
        "success": True,
        "redirect_requested": False,
        "interrupted": list(applied.interrupted),
        "retried": list(atoms),
        "attempts_left": applied.attempts_left,
    }


def _apply_correction(given: dict[str, Any]) -> dict[str, Any]:
    """A correction is a person's decision about the objective. The person accepts its commands elsewhere."""
    kind = given["kind"]
    if kind not in KINDS:
        raise UsageError(f"kind cannot be {kind!r}; it is one of {', '.join(KINDS)}")
    needed, parts_of = KINDS[kind]
    if missing := [name for name in needed if given[name] is None]:
        raise UsageError(f"{kind} needs " + ", ".join(f"--{name.replace('_', '-')}" for name in missing))
    changes = Changes(**parts_of(given), reason=given["description"])
    applied = redirect(open_store(given["state_file"]), changes, only_underway=False)
    recorded = applied.corrections[-1]
    result = {"success": True, "kind": kind, "type": recorded.type, "trail_cleared": recorded.trail_cleared}
    return {**result, "undone": list(applied.undone)}


def _objective(given: dict[str, Any]) -> dict[str, Any]:
    words = {name: given[name] for name in AGREED if given[name] is not None}
    base_case = _read(given["base_case"], BaseCase, "--base-case") if given["base_case"] is not None else None
    if not words and base_case is None:
        raise UsageError("alignment needs at least one of --goal, --base-case, --background-intent, --deliverables")
    return {"words": words, "base_case": base_case}


def _constraints(given: dict[str, Any]) -> dict[str, Any]:
    named = _read(given["constraints"], dict, "--constraints")
    unknown = set(named) - set(Constraints.__struct_fields__)
    if unknown:
        raise UsageError(f"there is no constraint {', '.join(sorted(unknown))}")
    try:
        limits = convert(named, Constraints)
    except ValueError as error:
        raise UsageError(f"--constraints: {error}") from None
    return {"limits": {name: getattr(limits, name) for name in named}}


def _read(text: str, wanted: Any, option: str) -> Any:
    """An option's value that is YAML (or JSON, which is YAML)."""
    value = read_value(text.encode() + b"\n", wanted)
    if value is None:
        raise UsageError(f"{option} cannot be read: {text!r}")
    return value


def _added(given: dict[str, Any]) -> dict[str, Any]:
    added = NewAtom(
        atom=given["atom"],
        description=given["atom_description"],
        depends_on=given["depends_on"],
        or_group=given["or_group"],
    )
    return {"added": added}


def _result(given: dict[str, Any]) -> dict[str, Any]:
    return {"results": (Result(atom=given["atom"], summary=given["summary"], artifacts=given["artifacts"]),)}


KINDS: dict[str, tuple[tuple[str, ...], Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "alignment": ((), _objective),
    "constraints": (("constraints",), _constraints),
    "add_atom": (("atom_description",), _added),
    "remove_atom": (("atom",), lambda given: {"removed": (given["atom"],)}),
    "force_choice": (("or_group", "choice"), lambda given: {"chosen": ((given["or_group"], given["choice"]),)}),
    "override_binding": (("atom", "summary"), _result),
    "retry": (("atom",), lambda given: {"retried": (given["atom"],)}),
}
"""What each kind needs, and which parts of the changes it makes."""

REQUEST_REDIRECT = Script(
    Usage(
        "Pause the loop for a person's correction; --cancel: continue without one; --retry: give these atoms new"
        " attempts, and continue.",
        (),
        {"--cancel": Option(None), "--retry": Option(comma_separated, ())},
    ),
    _request_redirect,
)
APPLY_CORRECTION = Script(
    Usage(
        f"Apply and record a person's correction. Kinds: {', '.join(KINDS)}.",
        ("kind",),
        {
            "--description": Option(required=True),
            **{f"--{name.replace('_', '-')}": Option() for name in AGREED},
            "--base-case": Option(),
            "--constraints": Option(),
            "--atom": Option(),
            "--atom-description": Option(),
            "--depends-on": Option(comma_separated, ()),
            "--or-group": Option(),
            "--choice": Option(),
            "--summary": Option(),
            "--artifacts": Option(comma_separated, ()),
        },
    ),
    _apply_correction,
)
