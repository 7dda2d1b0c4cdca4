"""request_stop, request_redirect, apply_correction: a person ends a loop, or changes its direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aotloop import app
from aotloop.core import events
from aotloop.core.effects import Revert
from aotloop.core.machine import advance
from aotloop.core.model import BaseCase, Constraints, Correction, Loop
from aotloop.errors import Unavailable
from aotloop.scripts.arguments import Option, Usage, UsageError, comma_separated
from aotloop.scripts.output import Script
from aotloop.statefile.store import Store

AGREED = ("goal", "background_intent", "deliverables", "definition_of_done")


def _request_stop(given: dict[str, Any]) -> dict[str, Any]:
    app.apply(app.open_store(given["state_file"]), events.StopRequested(reason=given["reason"]))
    return {"success": True, "stop_requested": True, "reason": given["reason"]}


def _request_redirect(given: dict[str, Any]) -> dict[str, Any]:
    """Atoms that were in progress are named: whoever works on them is to be stopped, and their results do not count."""
    store = app.open_store(given["state_file"])
    if given["cancel"] and given["retry"]:
        raise UsageError("--cancel and --retry contradict each other")
    if given["retry"]:
        return _retry(store, given["retry"])
    is_requested = not given["cancel"]

    def change(loop: Loop) -> list[str]:
        underway = _underway(loop)
        advance(loop, events.RedirectRequested() if is_requested else events.RedirectExpired())
        return underway if is_requested else []

    interrupted = store.update(change)
    return {"success": True, "redirect_requested": is_requested, "interrupted": interrupted}


def _retry(store: Store, atoms: tuple[str, ...]) -> dict[str, Any]:
    """As `aot redirect --retry`: nothing is held against these atoms any more, and the loop goes on at once."""
    from aotloop.core.measure import attempts_left  # noqa: PLC0415

    def change(loop: Loop) -> tuple[list[str], int]:
        underway = _underway(loop)
        for atom in atoms:
            granted = events.RetryGranted(atom=atom, description=f"{atom} gets new attempts", at=app.now())
            advance(loop, granted)
        return underway, attempts_left(loop)

    interrupted, left = store.update(change)
    told = {"success": True, "redirect_requested": False, "interrupted": interrupted}
    return {**told, "retried": list(atoms), "attempts_left": left}


def _underway(loop: Loop) -> list[str]:
    return [atom.id for atom in loop.atoms if atom.status == "in_progress"]


def _apply_correction(given: dict[str, Any]) -> dict[str, Any]:
    kind = given["kind"]
    if kind not in KINDS:
        raise UsageError(f"kind cannot be {kind!r}; it is one of {', '.join(KINDS)}")
    needed, make = KINDS[kind]
    if missing := [name for name in needed if given[name] is None]:
        raise UsageError(f"{kind} needs " + ", ".join(f"--{name.replace('_', '-')}" for name in missing))
    store = app.open_store(given["state_file"])

    def change(loop: Loop) -> tuple[Correction, list[str]]:
        before = loop.snapshot()
        effects = advance(loop, make(loop, given, app.now()))
        _remember_agreement(store, before, loop)
        return loop.corrections[-1], [atom for effect in effects if isinstance(effect, Revert) for atom in effect.atoms]

    recorded, undone = store.update(change)
    told = {"success": True, "kind": kind, "type": recorded.type, "trail_cleared": recorded.trail_cleared}
    return {**told, "undone": undone}


def _remember_agreement(store: Store, before: Loop, now: Loop) -> None:
    """A correction is a person's word about the objective; commands it brings are accepted elsewhere, by the person."""
    from contextlib import suppress  # noqa: PLC0415

    from aotloop.core.commands import commands_of  # noqa: PLC0415
    from aotloop.trust import is_trusted, trust  # noqa: PLC0415
    from aotloop.trust.objectives import agree  # noqa: PLC0415

    if now.objective == before.objective:
        return
    with suppress(Unavailable):  # a home that cannot be written to costs the memory, not the correction
        if is_trusted(store.path, known := commands_of(before)) and set(commands := commands_of(now)) <= set(known):
            trust(store.path, commands)
        agree(store.path, now.objective)


def _objective(loop: Loop, given: dict[str, Any], at: str) -> events.Corrected:
    from msgspec.structs import replace  # noqa: PLC0415

    changes: dict[str, Any] = {name: given[name] for name in AGREED if given[name] is not None}
    if given["base_case"] is not None:
        changes["base_case"] = _read(given["base_case"], BaseCase, "--base-case")
    if not changes:
        raise UsageError("alignment needs at least one of --goal, --base-case, --background-intent, --deliverables")
    objective = replace(loop.objective, **changes)
    return events.ObjectiveCorrected(description=given["description"], at=at, objective=objective)


def _constraints(loop: Loop, given: dict[str, Any], at: str) -> events.Corrected:
    from msgspec import convert, to_builtins  # noqa: PLC0415

    changes = _read(given["constraints"], dict, "--constraints")
    unknown = set(changes) - set(Constraints.__struct_fields__)
    if unknown:
        raise UsageError(f"there is no constraint {', '.join(sorted(unknown))}")
    try:
        limits = convert({**to_builtins(loop.objective.constraints), **changes}, Constraints)
    except ValueError as error:
        raise UsageError(f"--constraints: {error}") from None
    return events.ConstraintsCorrected(description=given["description"], at=at, constraints=limits)


def _read(text: str, wanted: Any, option: str) -> Any:
    """An option's value that is YAML (or JSON, which is YAML)."""
    from aotloop.statefile.reading import read_value  # noqa: PLC0415

    value = read_value(text.encode() + b"\n", wanted)
    if value is None:
        raise UsageError(f"{option} cannot be read: {text!r}")
    return value


def _added(_: Loop, given: dict[str, Any], at: str) -> events.Corrected:
    added = events.AtomAdded(
        atom=given["atom"],
        description=given["atom_description"],
        depends_on=given["depends_on"],
        or_group=given["or_group"],
    )
    return events.ScopeExtended(description=given["description"], at=at, added=added)


def _removed(_: Loop, given: dict[str, Any], at: str) -> events.Corrected:
    return events.ScopeReduced(description=given["description"], at=at, atom=given["atom"])


def _forced(_: Loop, given: dict[str, Any], at: str) -> events.Corrected:
    return events.ChoiceForced(
        description=given["description"], at=at, or_group=given["or_group"], choice=given["choice"]
    )


def _overridden(_: Loop, given: dict[str, Any], at: str) -> events.Corrected:
    return events.BindingOverridden(
        description=given["description"],
        at=at,
        atom=given["atom"],
        summary=given["summary"],
        artifacts=given["artifacts"],
    )


def _retried(_: Loop, given: dict[str, Any], at: str) -> events.Corrected:
    return events.RetryGranted(description=given["description"], at=at, atom=given["atom"])


KINDS: dict[str, tuple[tuple[str, ...], Callable[[Loop, dict[str, Any], str], events.Corrected]]] = {
    "alignment": ((), _objective),
    "constraints": (("constraints",), _constraints),
    "add_atom": (("atom_description",), _added),
    "remove_atom": (("atom",), _removed),
    "force_choice": (("or_group", "choice"), _forced),
    "override_binding": (("atom", "summary"), _overridden),
    "retry": (("atom",), _retried),
}

REQUEST_STOP = Script(
    Usage("Ask the running loop to stop; nothing is lost.", (), {"--reason": Option()}), _request_stop
)
REQUEST_REDIRECT = Script(
    Usage(
        "Have everything wait for a person's correction; --cancel: there is none, go on; --retry: grant these atoms new"
        " attempts, and go on.",
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
