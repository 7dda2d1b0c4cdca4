"""The planner: an agent that looks at the project and asks the person, or proposes. It changes nothing there.

It works in the person's own checkout. So the kernel keeps it from changing that, where it can; so does its client where
it can be told to. In any case the checkout is compared with what it was before.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.agents.answers.answer_schema import PlannerResult, schema
from aotloop.agents.contract import Assignment, Backend, Failure, MustWait, Planned
from aotloop.agents.prompts.planner_prompt import Talk, write_planner_prompt
from aotloop.app.preflight.agents import hire
from aotloop.config.schema import Config
from aotloop.errors import AotError, Unavailable
from aotloop.git.repository import Repository, find_repository, is_at_or_in
from aotloop.process.sandbox import Confinement, Policy
from aotloop.process.spec import Limits

Fingerprint = tuple[str | None, tuple[tuple[str, int, int], ...]]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    result: PlannerResult
    changed: tuple[str, ...] = ()
    """Every difference between the checkout now and before."""
    cost_usd: float | None = None
    notes: tuple[str, ...] = ()
    """Oddities of its answer that were accepted."""


class Planner(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    backend: Backend
    limits: Limits
    root: Path
    state_file: Path
    confines: bool = True
    fence: Policy = Policy()
    """The engine that confines it; None: it is not confined."""
    max_cost_usd: float | None = None
    """The most that one answer may cost, if the client has such an option."""

    def ask(self, talk: Talk, on_output: Callable[[str], None]) -> Reply:
        """Raises AotError, with the reason, if there is no usable answer."""
        repository = _repository(self.root)
        before = _fingerprint(repository)
        with tempfile.TemporaryDirectory(prefix="aot-align-") as folder:
            outcome = asyncio.run(self.backend.run(self._assignment(talk, Path(folder)), on_output))
        changed = _changed(before, _fingerprint(repository))
        if isinstance(outcome, Planned):
            return Reply(result=outcome.answer, changed=changed, cost_usd=outcome.cost_usd, notes=outcome.notes)
        note = f"; besides, this was changed: {', '.join(changed[:8])}" if changed else ""
        if isinstance(outcome, MustWait | Failure):
            raise AotError(f"{self.name}: {outcome.reason}{note}")
        raise AotError(f"{self.name} answered as if it had been asked something else{note}")

    def _assignment(self, talk: Talk, folder: Path) -> Assignment:
        return Assignment(
            role="planner",
            atom="align",
            attempt=1,
            run_id=uuid.uuid4().hex[:12],
            epoch=0,
            cwd=self.root,
            state_file=self.state_file,
            scratch=folder / "planner",
            prompt=write_planner_prompt(talk),
            limits=self.limits,
            result_schema=schema("planner"),
            max_cost_usd=self.max_cost_usd,
            confinement=self._confinement(folder),
        )

    def _confinement(self, folder: Path) -> Confinement | None:
        """None where the clients' own files, in the person's home, would be closed too."""
        home, root = os.path.realpath(Path("~").expanduser()), os.path.realpath(self.root)
        if not self.confines or is_at_or_in(home, root):
            return None
        return Confinement(closed=(self.root,), open=(folder,)).under(self.fence)


def hire_planner(config: Config, name: str, root: Path, state_file: str) -> Planner:
    """Raises Unavailable if it is certain that the agent cannot be started."""
    backend, limits = hire(config, name, "planner")
    presence = backend.look()
    if presence.is_missing:
        raise Unavailable(f"{name}: {presence.problem}", hint=presence.remedy)
    return Planner(
        name=name,
        backend=backend,
        limits=limits,
        root=root,
        state_file=Path(state_file),
        confines=config.fence is not None,
        fence=config.fence if config.fence is not None else Policy(),
        max_cost_usd=config.max_attempt_cost_usd,
    )


# --- what it may not change --------------------------------------------------------------------------------------


def _repository(root: Path) -> Repository | None:
    with suppress(Unavailable):
        return find_repository(root)
    return None


def _fingerprint(repository: Repository | None) -> Fingerprint | None:
    if repository is None:
        return None
    found = []
    for name in repository.dirty():
        try:
            status = (repository.top / name).lstat()
            found.append((name, status.st_size, status.st_mtime_ns))
        except OSError:
            found.append((name, -1, -1))
    return repository.head().commit, tuple(found)


def _changed(before: Fingerprint | None, now: Fingerprint | None) -> tuple[str, ...]:
    if before is None or now is None or before == now:
        return ()
    names = sorted({difference[0] for difference in set(before[1]) ^ set(now[1])})
    return tuple(names if before[0] == now[0] else ["HEAD", *names])
