"""The commands that run acceptance tests: a person accepts them before an agent's tests run for the first time."""

from __future__ import annotations

from collections.abc import Sequence

from aotloop.core.phases.model import PhaseLoop, ShipSettings
from aotloop.errors import NotTrusted
from aotloop.execution.journals.file_tail import last_bytes
from aotloop.phases.evidence.test_command import command_for
from aotloop.phases.project import Project
from aotloop.trust.accepted_commands import digest_of, is_trusted, trust
from aotloop.trust.person import refuse_agents

MOST_SHOWN = 400_000
"""Bytes of acceptance tests that a person is shown."""

_BY_KIND = (
    "python3 -m pytest -q FILE.py, or python3 -m unittest FILE.py",
    "sh FILE.sh, node --test FILE.js, ruby FILE.rb, go test FILE.go, and the like, by the kind of the file",
)


def commands_for_tests(settings: ShipSettings) -> list[str]:
    """FILE stands for a file that is not written yet."""
    return [f"{settings.test_command} FILE"] if settings.test_command is not None else list(_BY_KIND)


def only_accepted_tests(project: Project) -> None:
    """For callers that cannot ask: raises NotTrusted, with the commands, unless this user accepted them before."""
    commands = commands_for_tests(project.settings)
    if not is_trusted(project.store.path, commands):
        raise NotTrusted("the commands that run acceptance tests are not accepted yet", commands)


def accept_test_commands(project: Project, digest: str) -> Sequence[str]:
    """A person saw the commands with this digest, and accepts them."""
    refuse_agents("only a person accepts commands")
    commands = commands_for_tests(project.settings)
    if digest != digest_of(project.store.path, commands):
        raise NotTrusted("the commands are not the ones that were shown", commands)
    trust(project.store.path, commands)
    return commands


def shown_tests(project: Project, feature: PhaseLoop) -> tuple[str, str]:
    """The acceptance tests that wait for a person, as text, and the command that runs them."""
    file = feature.artifacts.acceptance_tests_file
    if file is None or (project.root / file).is_symlink():
        return "", ""
    text = last_bytes(project.root / file, MOST_SHOWN)[0].decode("utf-8", "replace")
    return text, command_for(project.root, file, project.settings)
