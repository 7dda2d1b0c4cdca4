"""Problems of the place where a run would work: no repository, no commit, no branch, no name for commits.

Each finding says what is wrong and the one command that helps. What changes the person's own folder, or leaves commits
on no branch, needs the person's word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import msgspec

from aotloop.app.preflight.agents import refuse_without_agents
from aotloop.app.preflight.protected_files import protecting_nothing
from aotloop.config.sources import load
from aotloop.core.model import Loop
from aotloop.errors import AotError, Unavailable
from aotloop.execution.integration.protection import protection_of
from aotloop.exit_codes import FAILED, NOT_READY, PERSON_NEEDED
from aotloop.git.commits.objects import contains
from aotloop.git.repository import OUR_IDENTITY, Head, Repository, find_repository
from aotloop.statefile.locate import PHASE_FILE, STATE_FILE, project_root
from aotloop.statefile.store import Store
from aotloop.text.phrases import listed

IDENTITY = 'git config --global user.name "Your Name" && git config --global user.email you@example.com'
FIRST_COMMIT = 'git add -A && git commit -m "Start"'


class Finding(msgspec.Struct, frozen=True):
    text: str
    remedy: str
    is_refused: bool = True
    """Nothing starts before it is repaired."""
    comes_first: bool = True
    """Its command is the next step, before `aot run`."""
    exit_code: int = NOT_READY
    """Of a run that is refused for it."""

    def __str__(self) -> str:
        return f"{self.text}. {self.remedy}" if self.remedy else self.text

    @property
    def command(self) -> str | None:
        """The one that helps."""
        commands = [piece for piece in self.remedy.split("`")[1::2] if piece.startswith("git ")]
        return commands[0] if commands and self.comes_first else None


def obstacles(store: Store) -> Iterator[Finding]:
    """What `aot run` without flags would refuse or warn about, although the file is ready."""
    root = Path(project_root(store.path))
    try:
        config, loop = load(root), store.load()
        if config.isolation != "none":
            repository = find_repository(root)
            protect = protection_of(loop.objective.protect, store.path, str(root))
            work = None if repository is None or config.allow_dirty else uncommitted(repository, protect.files)
            found = _findings(root, repository, is_settled=False)
            yield from (finding for finding in found if work is None or finding.remedy != work.remedy)
            yield from [work] if work is not None else []
        for doubt in protecting_nothing(loop.objective.protect, root):
            yield Finding(doubt.rstrip("."), "", is_refused=False)
        refuse_without_agents(loop, config)
    except AotError as error:
        yield Finding(error.message, error.hint or "")


def require_workplace(root: Path, repository: Repository | None, *, is_settled: bool) -> None:
    """`is_settled`: the person named a branch, or wants none."""
    for finding in _findings(root, repository, is_settled=is_settled):
        refuse(finding)


def refuse(finding: Finding) -> None:
    if finding.is_refused:
        raise Unavailable(finding.text, hint=finding.remedy, exit_code=finding.exit_code)


def uncommitted(repository: Repository, ours: Sequence[str]) -> Finding | None:
    """`ours`: files that a loop itself changes, from the project's folder."""
    prefix = f"{repository.prefix}/" if repository.prefix else ""
    dirty = repository.dirty([f"{prefix}{name}" for name in (*ours, "aot.toml")])
    paths = [path for path in dirty if not _is_of_a_loop(path) and not _is_compiled(path)]
    if not paths:
        return None
    shown = listed(paths)
    if repository.head().commit is None:
        return Finding(
            f"nothing is committed yet, and agents start from a commit: {shown}", f"Make one: `{FIRST_COMMIT}`."
        )
    return Finding(
        f"there are changes that are not committed: {shown}",
        "Agents start from the last commit and do not see them. Commit them, or put them away with"
        " `git stash -u`; --allow-dirty runs without them and leaves them alone.",
        comes_first=False,
        exit_code=FAILED,
    )


def _is_of_a_loop(path: str) -> bool:
    """The state file of any loop in the repository, or a file beside it that a run needs."""
    found = PurePath(path)
    usual = (PurePath(file) for file in (STATE_FILE, PHASE_FILE))
    return any(found.parent.name == path.parent.name and path.name in found.name for path in usual)


def _is_compiled(path: str) -> bool:
    """Python makes it anew: a person who ran the tests has not changed anything."""
    return PurePath(path).match("__pycache__/*.pyc")


def refuse_other_history(loop: Loop, repository: Repository) -> None:
    """The branch has to contain what the loop did before."""
    last = loop.control.last_sha
    if last is None or loop.control.status == "pending" or contains(repository, last):
        return
    name = (repository.head().branch or "no branch").removeprefix("refs/heads/")
    raise Unavailable(
        f"what is checked out ({name}) does not contain what was done so far ({last[:12]})",
        hint="Check out the branch of the loop. If it no longer exists, remove `control.last_sha`.",
        exit_code=PERSON_NEEDED,
    )


def unknown_author(repository: Repository) -> Finding | None:
    known = dict(repository.identity)
    if not any(known.get(f"GIT_AUTHOR_{field}") == ours for field, ours in OUR_IDENTITY.items()):
        return None
    return Finding(
        "git does not know your name, so the commits of a run are by aot <aot@localhost>",
        f"Tell git: `{IDENTITY}`.",
        is_refused=False,
        comes_first=repository.head().commit is None,  # git makes no commit then
    )


def _findings(root: Path, repository: Repository | None, *, is_settled: bool) -> Iterator[Finding]:
    if repository is None:
        yield _no_repository(root)
        return
    if (author := unknown_author(repository)) is not None:
        yield author
    yield from _of_head(repository.head(), is_settled=is_settled)


def _no_repository(root: Path) -> Finding:
    return Finding(
        f"{root} is not in a git repository",
        'Make one: `git init && git add -A && git commit -m "Start"`;'
        " or `aot run --in-place` lets one agent at a time work in the folder itself.",
    )


def _of_head(head: Head, *, is_settled: bool) -> Iterator[Finding]:
    if head.commit is None:
        name = (head.branch or "the branch").removeprefix("refs/heads/")
        yield Finding(
            f"{name} has no commit yet, and agents start from a commit",
            f"Make one: `{FIRST_COMMIT}`.",
            is_refused=False,  # an empty folder gets its first commit from an attempt
        )
    elif head.branch is None and not is_settled:
        yield Finding(
            "no branch is checked out (detached HEAD), so the commits of a run would belong to no branch",
            "Name one: `git switch -c NAME`; or `aot run --detached` works without a branch.",
        )
