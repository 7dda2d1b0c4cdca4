"""What a run that died, or was stopped, left behind: results to take up, changes to take back, used numbers."""

from __future__ import annotations

import msgspec

from aotloop.core.conduct.reports import ProbeReturned
from aotloop.core.model import Atom, Loop
from aotloop.runner.bills import Bill, sum_of
from aotloop.runner.branch import Branch
from aotloop.runner.journal import Journal, Record


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    found: tuple[Record, ...] = ()
    """Attempts that had ended, in this epoch, and of which nothing was made yet."""
    over: tuple[Record, ...] = ()
    """Of which nothing will be made: it was, just before the run died, or it was given up since."""
    given_up: tuple[str, ...] = ()
    """Atoms, some of them no atoms any more, of which something is still on the branch though it should not."""
    bill: Bill = Bill()
    """What finished attempts have cost that the state file does not know of."""
    first_attempt: int = 1


def look(loop: Loop, run_id: str, journal: Journal, branch: Branch | None) -> Recovery:
    """To be called before the loop is started: atoms that are in progress were so when the run died."""
    records = journal.records(run_id)
    atoms = {atom.id: atom for atom in loop.atoms}
    latest = {record.atom: record for record in records}
    found = [
        record
        for record in latest.values()
        if (record.work is not None or record.report is not None)
        and record.epoch == loop.control.epoch
        and record.atom in atoms
        and not _is_known(loop, atoms[record.atom], record)
        and _is_there(record, branch)
    ]
    taken_up = {record.atom for record in found if record.work is not None}
    standing = branch.atoms_on_it(run_id) if branch is not None else []
    return Recovery(
        found=tuple(found),
        over=tuple(record for record in records if record not in found),
        given_up=tuple(
            one for one in standing if one not in taken_up and (one not in atoms or atoms[one].status != "resolved")
        ),
        bill=sum_of(one.bill for one in records if not one.is_accounted),
        first_attempt=1 + max(journal.last_attempt(), branch.last_attempt(run_id) if branch is not None else 0),
    )


def _is_known(loop: Loop, atom: Atom, record: Record) -> bool:
    """Whether the file says already what came of it: the run died just before it could take note of that."""
    if atom.status == "resolved" or record.work is not None or record.report is None:
        return atom.status == "resolved"
    if any(split.parent == atom.id for split in loop.decompositions):
        return True
    if isinstance(record.report, ProbeReturned) and atom.findings is not None:
        return True
    failure = ("failure", atom.id, record.report.at, record.failures + 1)
    return failure in {(one.type, one.atom, one.timestamp, one.attempt) for one in loop.trail}


def _is_there(record: Record, branch: Branch | None) -> bool:
    commit = record.work.commit if record.work is not None else None
    return commit is None or (branch is not None and branch.has(commit))
