"""What a run that died, or was stopped, left behind: results to take up, changes to take back, used numbers."""

from __future__ import annotations

import msgspec

from aotloop.core.model import Loop
from aotloop.runner.bills import Bill, sum_of
from aotloop.runner.branch import Branch
from aotloop.runner.journal import Journal, Record


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    found: tuple[Record, ...] = ()
    """Attempts that had finished, in this epoch, and of which nothing was made yet."""
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
        if record.work is not None
        and record.epoch == loop.control.epoch
        and record.atom in atoms
        and atoms[record.atom].status != "resolved"
        and _is_there(record, branch)
    ]
    taken_up = {record.atom for record in found}
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


def _is_there(record: Record, branch: Branch | None) -> bool:
    commit = record.work.commit if record.work is not None else None
    return commit is None or (branch is not None and branch.has(commit))
