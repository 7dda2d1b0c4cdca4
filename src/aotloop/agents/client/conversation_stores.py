"""Stores: the folders in which conversations outlive their attempts (`contract.Sitting`), new and empty or removed."""

from __future__ import annotations

import os
from pathlib import Path

from aotloop.agents.claude.conversations import forget, home_of
from aotloop.deletion import discard_tree


def empty_store(store: Path) -> None:
    """A new, empty store; its old content is removed. Raises OSError."""
    remove_store(store)
    store.mkdir(parents=True, mode=0o700)


def remove_store(store: Path) -> None:
    """Also removes the files that its client has left elsewhere because it was killed together with us."""
    forget(store, home_of(os.environ))
    discard_tree(store)
