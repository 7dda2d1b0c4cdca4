"""An agreed objective stays agreed: an objective that was edited in the file afterwards is refused.

The agreement is kept in the user's data folder, so an agent that edits the state file cannot change it.
"""

from __future__ import annotations

from contextlib import suppress

from aotloop.app.preflight.protected_files import changed_protected, remember_protected
from aotloop.core.model import Loop, Objective
from aotloop.errors import AotError, Unavailable
from aotloop.exit_codes import PERSON_NEEDED
from aotloop.statefile.store import Store
from aotloop.text.phrases import listed
from aotloop.trust.objectives import agree, agreed, difference, is_agreement_forged

_REMEDY = "A person takes it with `aot redirect --accept` in a terminal; or change it back."


def changed_since_agreed(store: Store, objective: Objective) -> list[str]:
    """What differs, one line each. Nothing, if it is as agreed, or if no agreement is known."""
    if is_agreement_forged(store.path):
        return ["the copy of what was agreed on, in your data folder, was not written by aotloop"]
    before = agreed(store.path)
    return difference(before, objective) if before is not None else []


def require_agreement(store: Store, loop: Loop, *, in_place: bool = False) -> None:
    """Before a loop starts. A loop that never ran may be edited freely.

    `in_place`: attempts change the checkout itself, so a protected file may differ because of an earlier one.
    """
    lines = changed_since_agreed(store, loop.objective)
    lines += changed_protected(store, loop.objective) if in_place else []
    if lines and loop.control.status != "pending":
        raise AotError(behind_its_back(lines), hint=_REMEDY, exit_code=PERSON_NEEDED)


def broken_agreement(store: Store, loop: Loop) -> str | None:
    """Why nothing may be completed in a session now; None if all is as it was agreed on."""
    lines = [*changed_since_agreed(store, loop.objective), *changed_protected(store, loop.objective)]
    return behind_its_back(lines) if lines and loop.control.status != "pending" else None


def require_unbroken(store: Store, loop: Loop) -> None:
    """Before a session verifies, integrates or completes anything."""
    if (why := broken_agreement(store, loop)) is not None:
        raise AotError(why, hint=_REMEDY, exit_code=PERSON_NEEDED)


def require_agreement_to_correct(store: Store, objective: Objective) -> None:
    """Before a correction of the objective: else the correction would agree to the edit, too."""
    if lines := changed_since_agreed(store, objective):
        raise AotError(
            f"the objective was changed in the file without the agreement of a person: {'; '.join(lines)}",
            hint=_REMEDY,
        )


def behind_its_back(lines: list[str]) -> str:
    return f"the objective was changed behind the loop's back: {listed(lines, separator='; ')}"


def remember_agreement(store: Store, objective: Objective) -> None:
    """If the home folder cannot be written, the use case continues and the agreement is not remembered."""
    with suppress(Unavailable):
        agree(store.path, objective)
    remember_protected(store, objective)
