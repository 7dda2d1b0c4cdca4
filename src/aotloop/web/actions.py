"""What a person decides on a page: each action calls the use case of the command of the same name."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import Request

from aotloop.app.confirm import Answers, decide
from aotloop.app.judges import recalled_judges
from aotloop.app.preflight.consent import accept_shown, only_accepted
from aotloop.app.redirect.preview import Preview, preview, redirect_at_once
from aotloop.app.redirect.proposals import accept_proposal, dismiss_proposal
from aotloop.app.redirect.wishes import Wishes, changes_in
from aotloop.app.run.stop import ask_to_stop
from aotloop.app.ship.approve import approve_tests, refuse_tests
from aotloop.app.ship.cancel import stop_feature
from aotloop.app.ship.feature_access import project_of
from aotloop.app.ship.test_consent import accept_test_commands, only_accepted_tests
from aotloop.errors import AotError
from aotloop.statefile.store import Store
from aotloop.trust.confirmations import Subject
from aotloop.web.endpoint import action, loop_in


class Body(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a request: unknown fields are refused, because a wish that is not understood is not fulfilled."""


class Reason(Body, frozen=True, kw_only=True):
    reason: str = ""


class Name(Body, frozen=True, kw_only=True):
    name: str


class Proposed(Name, frozen=True, kw_only=True):
    seen: int | None = None
    """The number of corrections in the preview."""


class Correction(Wishes, frozen=True, kw_only=True):
    seen: int | None = None
    """The number of corrections in the preview: what was done meanwhile is not done again unseen."""


class Digest(Body, frozen=True, kw_only=True):
    """The digest of the commands that the person was shown."""

    digest: str


class Decision(Body, frozen=True, kw_only=True):
    """About items by their paths, for this objective at this commit."""

    objective_digest: str
    commit: str | None
    confirmed: tuple[str, ...] = ()
    rejected: dict[str, str] = {}
    """Path → what is wrong."""
    words: str = ""


@action(Reason)
def stop(request: Request, body: Reason) -> dict[str, Any]:
    done = ask_to_stop(_store(request), body.reason.strip() or None)
    return {"status": done.status, "reason": done.reason, "asked": done.is_asked}


@action(Wishes)
def rehearsal(request: Request, body: Wishes) -> Preview:
    return preview(_store(request), changes_in(body))


@action(Correction)
def redirect(request: Request, body: Correction) -> dict[str, Any]:
    applied = redirect_at_once(_store(request), changes_in(body), body.seen)
    return {"told": applied.told, "added": applied.added, "undone": applied.undone}


@action(Proposed)
def adopt(request: Request, body: Proposed) -> dict[str, Any]:
    """A proposal is named by its digest, so what is accepted is what was shown."""
    applied = accept_proposal(_store(request), body.name, body.seen)
    return {"told": applied.told, "added": applied.added, "undone": applied.undone}


@action(Name)
def dismiss(request: Request, body: Name) -> dict[str, Any]:
    dismiss_proposal(_store(request), body.name)
    return {"dismissed": body.name}


@action(Digest)
def accept(request: Request, body: Digest) -> dict[str, Any]:
    return {"accepted": accept_shown(_store(request), body.digest)}


@action(Decision)
def confirm(request: Request, body: Decision) -> dict[str, Any]:
    store = _store(request)
    if not body.confirmed and not body.rejected:
        raise AotError("name the items to confirm or to reject")
    words = body.words.strip() or "as it should be"
    answers = Answers(
        about=Subject(state_file=store.path, objective_digest=body.objective_digest, commit=body.commit),
        confirmed=dict.fromkeys(body.confirmed, words),
        rejected={path: why.strip() or "it is not as it should be" for path, why in body.rejected.items()},
    )
    with recalled_judges(store) as judges:
        end = decide(store, answers, judges, permit=only_accepted(store))
    if end is None:
        return {"remembered": True}
    return {
        "remembered": False,
        "completed": end.is_completed,
        "passed": end.report.passed,
        "status": end.status,
        "failing": list(end.report.failing),
        "waiting": list(end.report.waiting),
        "begun": end.begun,
    }


# --- features ----------------------------------------------------------------------------------------------------


@action(Body)
def approve(request: Request, _: Body) -> dict[str, Any]:
    filed = approve_tests(only_accepted_tests, project_of(loop_in(request, "feature").path))
    return {"phase": filed.loop.phase, "status": filed.loop.status}


@action(Reason)
def refuse(request: Request, body: Reason) -> dict[str, Any]:
    if not body.reason.strip():
        raise AotError("say what is wrong with the tests: an agent writes them again")
    filed = refuse_tests(body.reason.strip(), project_of(loop_in(request, "feature").path))
    return {"phase": filed.loop.phase, "status": filed.loop.status}


@action(Digest)
def accept_tests(request: Request, body: Digest) -> dict[str, Any]:
    return {"accepted": list(accept_test_commands(project_of(loop_in(request, "feature").path), body.digest))}


@action(Reason)
def stop_shipping(request: Request, body: Reason) -> dict[str, Any]:
    done = stop_feature(body.reason.strip() or "stop requested", None, project_of(loop_in(request, "feature").path))
    return {"status": done.status, "reason": done.stop_reason}


def _store(request: Request) -> Store:
    return Store(loop_in(request).path)
