"""Which files belong to the loops of a project: no attempt may change them, and they make no tree dirty."""

from __future__ import annotations

import os

from aotloop.statefile import durable
from aotloop.statefile.lease import lease_file
from aotloop.statefile.locate import PHASE_FILE

JOURNALS = ".aot"
"""The folder, in the project, of what machines write down about a loop."""


def our_files(state_file: str, root: str) -> list[str]:
    """From the project's root."""
    files = (*_of(state_file), *_of(os.path.join(root, PHASE_FILE)))
    inside = dict.fromkeys(os.path.relpath(path, root) for path in files)
    return [JOURNALS, *(path for path in inside if not path.startswith(".."))]


def _of(state_file: str) -> list[str]:
    leases = [lease_file(state_file, "run"), lease_file(state_file, "redirect")]
    return [state_file, *leases, durable.beside(state_file, "lock"), durable.beside(state_file, "tmp")]
