"""Checks of the server and the queues of workers, if the user's settings send attempts to other machines."""

from __future__ import annotations

from collections.abc import Iterator

from aotloop.app.server_findings import remote_findings
from aotloop.cli.doctor.agent_checks import root_of
from aotloop.cli.doctor.diagnosis import Finding
from aotloop.config.sources import load
from aotloop.errors import AotError

ABOUT = "other machines"


def other_machine_findings(state_file: str | None) -> Iterator[Finding]:
    try:
        config = load(root_of(state_file))
    except AotError:  # the project's own check names it
        return
    for what, said, ok in remote_findings(config):
        yield Finding(about=ABOUT, what=what, said=said, ok=ok)
