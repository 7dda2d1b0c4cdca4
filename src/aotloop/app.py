"""What a person or an agent can do to a loop, wired from the parts: store, machine, checks, git.

The command line and the scripts both call these functions, so there is one truth about what an operation does.
Imports that are slow and rarely needed (checks, git) happen where they are needed: scripts start often.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from aotloop.core import events
from aotloop.core.checklist import check_of
from aotloop.core.effects import CheckParent, Effect, Resolved
from aotloop.core.machine import advance
from aotloop.core.model import Atom, Loop, Verdict
from aotloop.errors import NotVerified, StateFileBusy, StateFileInvalid, StateFileMissing, Unavailable
from aotloop.statefile.locate import find_state_file, project_root
from aotloop.statefile.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from aotloop.core.checklist import Node
    from aotloop.core.gate import Gate
    from aotloop.trust.confirmations import Subject
    from aotloop.verify.evaluate import Progress
    from aotloop.verify.judge import Judge
    from aotloop.verify.results import Report

CHECK_TIMEOUT = 120.0

Permit = Callable[[list[str]], None]
"""Told of the very commands that are about to be run; raises NotTrusted if they may not be."""

JudgeFor = Callable[["Subject"], "Judge"]
"""Who decides what a program cannot, about this objective at this commit."""


def open_store(state_file: str | None = None) -> Store:
    return Store(find_state_file(state_file))


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


_FACTS = (
    events.AtomStarted,
    events.AtomAbandoned,
    events.AtomFailed,
    events.AtomProbed,
    events.AtomDecomposed,
    events.BindingWritten,
    events.BranchSwitched,
    events.LoopStarted,
    events.LoopStopped,
)
"""What only whoever runs the loop establishes, while somebody does."""


def apply(store: Store, event: events.Event) -> list[Effect]:
    if isinstance(event, _FACTS):
        refuse_while_run(store)
    return store.update(lambda loop: advance(loop, event))


def refuse_while_run(store: Store) -> None:
    """For whoever would change by hand what a process that runs the loop keeps in its memory."""
    from aotloop.statefile.lease import holder_of  # noqa: PLC0415

    holder = holder_of(store.path)
    if holder is not None:
        raise StateFileBusy(
            f"{holder.name} runs this loop, and it alone says what becomes of atoms and groups",
            hint="`aot redirect` changes its direction; `aot stop` ends it.",
        )


# --- atoms -------------------------------------------------------------------------------------------------------


class Resolution(msgspec.Struct, frozen=True):
    """What resolving an atom led to: parents that are resolved now, and those whose own check stands in the way."""

    auto_resolved: tuple[str, ...] = ()
    unverified: dict[str, str] = {}


def resolve_atom(
    store: Store,
    atom_id: str,
    summary: str | None = None,
    artifacts: tuple[str, ...] = (),
    *,
    permit: Permit | None = None,
) -> Resolution:
    """Runs the atom's check first. Parents that this resolves are checked and resolved too."""
    refuse_while_run(store)
    event = events.AtomResolved(atom=atom_id, summary=summary, artifacts=artifacts, at=now())
    return resolve_parents(store, atom_id, _resolve(store, event, permit), permit)


def resolve_parents(store: Store, atom_id: str, effects: list[Effect], permit: Permit | None) -> Resolution:
    """What follows from the effects of an atom's resolution."""
    resolved: list[str] = []
    unverified: dict[str, str] = {}
    while effects:
        effect = effects.pop(0)
        if isinstance(effect, Resolved) and effect.atom != atom_id:
            resolved.append(effect.atom)
        elif isinstance(effect, CheckParent):
            try:
                effects += _resolve(store, events.AtomResolved(atom=effect.atom, at=now()), permit)
            except NotVerified as error:
                unverified[effect.atom] = error.message
    return Resolution(tuple(resolved), unverified)


def _resolve(store: Store, event: events.AtomResolved, permit: Permit | None) -> list[Effect]:
    rehearsal = store.load()
    before = _find(rehearsal, event.atom)
    advance(rehearsal, event)  # refuses what is impossible before any check is run
    tree = check_of(before, rehearsal.objective.base_case) if before is not None else None
    if before is not None and tree is not None and before.status != "resolved":
        _require_check(store, before, tree, permit)

    def change(loop: Loop) -> list[Effect]:
        found = _find(loop, event.atom)
        if found is not None and before is not None and check_of(found, loop.objective.base_case) != tree:
            raise NotVerified(f"the check of {event.atom} changed while it ran; resolve it again")
        return advance(loop, event)

    return store.update(change)


def _require_check(store: Store, atom: Atom, tree: Node, permit: Permit | None) -> None:
    from aotloop.core.commands import commands_in  # noqa: PLC0415
    from aotloop.verify.evaluate import evaluate  # noqa: PLC0415

    if permit is not None:
        permit(list(commands_in(tree)))
    report = evaluate(tree, root=_root(store), timeout=CHECK_TIMEOUT)
    if not report.passed:
        reasons = "; ".join(f"{name}: {result.evidence}" for name, result in report.failing.items())
        waiting = "; ".join(f"{name} is undecided" for name in report.waiting)
        raise NotVerified(
            f"{atom.id} does not pass its check: {reasons or waiting}",
            hint="It stays in progress; mend it and resolve it again, or fail it.",
        )


def _root(store: Store) -> Path:
    from pathlib import Path  # noqa: PLC0415

    return Path(project_root(store.path))


def _find(loop: Loop, atom_id: str) -> Atom | None:
    return next((atom for atom in loop.atoms if atom.id == atom_id), None)


# --- the loop ----------------------------------------------------------------------------------------------------


def gate(store: Store) -> Gate:
    from aotloop.core.gate import Gate, gate_of  # noqa: PLC0415

    try:
        examination = store.examine()
    except StateFileMissing:
        return Gate(ready=False, missing=("state file",), status=None)
    return gate_of(examination.loop, examination.findings)


def start_loop(store: Store) -> None:
    loop = store.load()
    if loop.control.status != "running":
        opened = gate(store)
        if not opened.ready:
            raise StateFileInvalid(
                f"the loop cannot start; missing: {'; '.join(opened.missing)}",
                hint="`aot gate` says it again.",
            )
    apply(store, events.LoopStarted())
    if loop.control.status == "pending":
        _agree(store, loop)


def _agree(store: Store, loop: Loop) -> None:
    from contextlib import suppress  # noqa: PLC0415

    from aotloop.trust.objectives import agree  # noqa: PLC0415

    with suppress(Unavailable):  # a home that cannot be written to costs the memory, not the loop
        agree(store.path, loop.objective)


def complete_loop(
    store: Store, *, timeout: float = CHECK_TIMEOUT, permit: Permit | None = None, judge: JudgeFor | None = None
) -> None:
    """Runs the base case and completes the loop only if it holds."""
    loop = store.load()
    if loop.control.status == "completed":
        return
    if loop.control.status == "running":
        done = verify(store, timeout=timeout, permit=permit, judge=judge)
        if not done.report.passed:
            raise NotVerified(f"the base case does not hold: {described(done.report)}")
        event = events.LoopCompleted(commit=done.verdict.commit)
    else:
        event = events.LoopCompleted()
    apply(store, event)


class Verification(msgspec.Struct, frozen=True):
    report: Any
    """An aotloop.verify.results.Report; not imported here, because scripts start often."""
    verdict: Verdict
    unrecorded: str | None = None
    """Why the verdict could not be kept in the state file, if it could not."""


def verify(
    store: Store,
    *,
    timeout: float = CHECK_TIMEOUT,
    on_progress: Progress | None = None,
    record: bool = True,
    permit: Permit | None = None,
    judge: JudgeFor | None = None,
) -> Verification:
    """Evaluates the base case in the project's folder; the verdict is kept in the state file.

    What only a judge can decide is decided by what a person confirmed before, if no other judge is given.
    """
    from aotloop.core.checklist import base_case_tree  # noqa: PLC0415
    from aotloop.core.commands import commands_in  # noqa: PLC0415
    from aotloop.verify.evaluate import evaluate  # noqa: PLC0415

    loop = store.load()
    subject = subject_of(store, loop)
    tree = base_case_tree(loop.objective.base_case)
    if permit is not None:
        permit(list(commands_in(tree)))
    asked = (judge or remembered)(subject)
    report = evaluate(tree, root=_root(store), timeout=timeout, on_progress=on_progress, judge=asked)
    verdict = Verdict(
        passed=report.passed,
        objective_digest=subject.objective_digest,
        at=now(),
        commit=subject.commit,
        undecided=report.undecided,
        failing=tuple(report.failing),
        scores=report.scores,
    )
    unrecorded = None
    if record:
        try:
            store.update(_recording(verdict))
        except Unavailable as error:  # what was found out is worth telling all the same
            unrecorded = error.message
    return Verification(report, verdict, unrecorded)


def subject_of(store: Store, loop: Loop) -> Subject:
    """What a verdict, or a person's word, is about now."""
    from aotloop.core.objective import digest_of  # noqa: PLC0415
    from aotloop.trust.confirmations import Subject  # noqa: PLC0415
    from aotloop.workspace.git import head_of  # noqa: PLC0415

    return Subject(state_file=store.path, objective_digest=digest_of(loop.objective), commit=head_of(_root(store)))


def remembered(subject: Subject, otherwise: Judge | None = None) -> Judge:
    """Answers with what a person confirmed about exactly this; another judge answers the rest."""
    from aotloop.trust.confirmations import confirmed  # noqa: PLC0415
    from aotloop.verify.judge import ConfirmedByPerson  # noqa: PLC0415

    return ConfirmedByPerson(confirmed(subject), otherwise=otherwise)


def _recording(verdict: Verdict) -> Callable[[Loop], Any]:
    from aotloop.core.objective import digest_of  # noqa: PLC0415

    def change(loop: Loop) -> None:
        if digest_of(loop.objective) != verdict.objective_digest:
            raise NotVerified("the objective changed while it was verified; verify again")
        advance(loop, events.VerdictReached(verdict=verdict))

    return change


def described(report: Report) -> str:
    failing = [f"{name}: {result.evidence}" for name, result in report.failing.items()]
    waiting = [f"{name}: {result.evidence}" for name, result in report.waiting.items()]
    return "; ".join(failing + waiting)
