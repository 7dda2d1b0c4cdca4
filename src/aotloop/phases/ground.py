"""Where a phase loop stands: its file, its project, its repository, and how the project wants features shipped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from aotloop.core.phases.settings import ShipSettings
from aotloop.errors import Unavailable
from aotloop.statefile.locate import find_phase_file, project_root
from aotloop.statefile.phase_store import PhaseStore
from aotloop.workspace.repository import Repository, find_repository

_AS_IT_IS = (("GIT_NO_REPLACE_OBJECTS", "1"),)
"""`git replace` would have one commit stand for another: what was agreed on for what it became."""


class Ground:
    def __init__(
        self, store: PhaseStore, settings: ShipSettings | None = None, variables: Mapping[str, str] | None = None
    ) -> None:
        """`variables`: of the tests that are run, so that those of a run that died are known."""
        self.store = store
        self.settings = settings or ShipSettings()
        self.variables = variables or {}
        self.root = Path(project_root(store.path))

    @cached_property
    def repository(self) -> Repository:
        found = find_repository(self.root)
        if found is None:
            raise Unavailable(
                f"{self.root} is not in a git repository",
                hint="Receipts name commits: `git init`, and commit what there is.",
            )
        return replace(found, identity=(*found.identity, *_AS_IT_IS))

    def in_repository(self, path: str) -> str:
        """From a path of the project to one of the repository."""
        return f"{self.repository.prefix}/{path}" if self.repository.prefix else path

    def head(self) -> str:
        commit = self.repository.head().commit
        if commit is None:
            raise Unavailable("nothing has been committed here yet", hint="Receipts name commits: make the first one.")
        return commit

    def commit(self, sha: str) -> str | None:
        """The whole name of a commit; None: there is none, or it is a branch that is called so, which can be moved."""
        name = f"{sha}^{{commit}}"
        done = self.repository.git("rev-parse", "--verify", "--quiet", "--end-of-options", name, accept=())
        return done.text if done.code == 0 and done.text.startswith(sha) else None


def ground_at(start: str = ".", settings: ShipSettings | None = None) -> Ground:
    return Ground(PhaseStore(find_phase_file(start)), settings)
