"""What is judged together: one objective, and the files of one moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from aotloop.core.model import Objective
from aotloop.judging.sites import Sites
from aotloop.judging.trees import Tree


class Case:
    """Of the moment in which the first one asked for them."""

    def __init__(self, objective: Objective, root: Path, sites: Callable[[], Sites]) -> None:
        """`sites` are asked for when something has to be judged, and not before: they may be hard to come by."""
        self.objective = objective
        self.root = root
        self.sites = sites
        self._lock = threading.Lock()
        self._tree: Tree | None = None

    @property
    def tree(self) -> Tree:
        with self._lock:
            if self._tree is None:
                self._tree = self.sites().survey(self.root)
            return self._tree
