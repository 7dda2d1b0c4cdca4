"""What the agent of an assignment sees besides what is on the list."""

from __future__ import annotations

from pathlib import Path

from aotloop.agents.attempt.agent_process import environment
from tests.agents.assignments import an_assignment


def test_who_an_agent_is_cannot_be_overruled(tmp_path: Path) -> None:
    seen = environment(an_assignment(tmp_path, env={"AOT_ATOM_ID": "A9", "EXTRA": "1"}), {"AOT_ATOM_ID": "A8"})
    assert (seen["AOT_ATOM_ID"], seen["EXTRA"]) == ("A1", "1")
