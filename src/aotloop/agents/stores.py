"""The folders in which conversations outlive their attempts (`contract.Sitting`): made empty, and removed whole."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from aotloop.agents.claudecode.sessions import forget, home_of


def empty_store(store: Path) -> None:
    """A new one; what was in it is forgotten. Raises OSError."""
    remove_store(store)
    store.mkdir(parents=True, mode=0o700)


def remove_store(store: Path) -> None:
    """With what its client has left elsewhere, because it was killed together with us."""
    forget(store, home_of(os.environ))
    shutil.rmtree(store, ignore_errors=True)
