"""The project of a phase loop: its phase file, its folder, its repository, and its settings for shipping."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

from aotloop.core.phases.model import PhaseLoop, ShipSettings
from aotloop.core.phases.receipts import receipt_of
from aotloop.errors import Unavailable
from aotloop.fence.check_fence import checkout_confinement
from aotloop.git.repository import Repository, find_repository
from aotloop.process.sandbox import Confinement, Policy
from aotloop.statefile.locate import find_phase_file, project_root
from aotloop.statefile.phases.phase_store import PhaseStore


class Project:
    def __init__(
        self,
        store: PhaseStore,
        settings: ShipSettings | None = None,
        variables: Mapping[str, str] | None = None,
        fence: Policy | None = Policy(),  # noqa: B008 - it cannot change
    ) -> None:
        """`variables`: for the environment of tests, so that those of a run that died are known.

        `fence`: the person's decision about fences around tests; None: no fence.
        """
        self.store = store
        self.fence = fence
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
        return found

    @property
    def confinement(self) -> Confinement | None:
        """What tests may not change: git, the files of loops, and what a person decided."""
        return checkout_confinement(self.root, self.store.path, self.fence)

    def in_repository(self, path: str) -> str:
        """From a path of the project to one of the repository."""
        return f"{self.repository.prefix}/{path}" if self.repository.prefix else path

    def head(self) -> str:
        commit = self.repository.head().commit
        if commit is None:
            raise Unavailable("nothing has been committed here yet", hint="Receipts name commits: make the first one.")
        return commit

    def commit(self, sha: str) -> str | None:
        """The full name of a commit; None: there is none, or the name is a branch, which can be moved."""
        name = f"{sha}^{{commit}}"
        done = self.repository.git("rev-parse", "--verify", "--quiet", "--end-of-options", name, accept=())
        return done.text if done.code == 0 and done.text.startswith(sha) else None


def project_at(start: str = ".", settings: ShipSettings | None = None) -> Project:
    return Project(PhaseStore(find_phase_file(start)), settings)


FOLDER = "acceptance"
"""A folder of this name holds only acceptance tests."""


def agreed_tests(loop: PhaseLoop) -> str | None:
    """The file, once its receipt was accepted."""
    receipt = receipt_of(loop, "spec_test")
    return receipt.artifact if receipt is not None else None


def protected(loop: PhaseLoop) -> tuple[str, ...]:
    """Globs, from the project's root."""
    file = agreed_tests(loop)
    return () if file is None else (file, *(f"{folder}/**" for folder in folders_of(file)))


def folders_of(file: str) -> tuple[str, ...]:
    """The topmost folder of that name that contains the file, if any."""
    parents = PurePosixPath(file).parents
    return tuple(str(parent) for parent in reversed(parents) if parent.name == FOLDER)[:1]
