"""What an agent sees of our environment is on a list."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.environment import ALLOWED, allowed, environment
from tests.agents.assignments import an_assignment

SECRETS = {
    "CANARY": "x",
    "ANTHROPIC_API_KEY": "x",
    "OPENAI_API_KEY": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "GITHUB_TOKEN": "x",
    "SSH_AUTH_SOCK": "x",
    "GIT_DIR": "x",
    "LD_PRELOAD": "x",
    "PYTHONPATH": "x",
    "PATHX": "x",
    "XPATH": "x",
    "AOT_SECRET": "x",
    "": "x",
}


def test_what_programs_need_is_passed_on() -> None:
    ours = {"PATH": "/bin", "HOME": "/me", "LANG": "C", "LC_ALL": "C", "https_proxy": "p", "TMPDIR": "/t", "TERM": "x"}
    assert allowed({**ours, **SECRETS}) == ours


def test_more_is_passed_on_only_by_name_or_beginning() -> None:
    assert allowed(SECRETS, ["GITHUB_TOKEN", "AWS_*", "MISSING"]) == {"AWS_SECRET_ACCESS_KEY": "x", "GITHUB_TOKEN": "x"}


def test_a_mere_asterisk_does_not_open_the_door() -> None:
    assert allowed(SECRETS, ["*"]) == {}


def test_marks_of_whoever_surrounds_us_are_kept_so_that_it_can_end_us() -> None:
    marks = {"AOT_ATTEMPT_MARK": "outer", "AOT_CHECK_ID": "outer"}
    assert allowed(marks) == marks


def test_who_an_agent_is_cannot_be_overruled(tmp_path: Path) -> None:
    seen = environment(an_assignment(tmp_path, env={"AOT_ATOM_ID": "A9", "EXTRA": "1"}), {"AOT_ATOM_ID": "A8"})
    assert (seen["AOT_ATOM_ID"], seen["EXTRA"]) == ("A1", "1")


@given(st.dictionaries(st.text(), st.text()))
def test_nothing_that_is_not_on_the_list_is_passed_on(surroundings: dict[str, str]) -> None:
    assert all(name in ALLOWED or name.startswith("LC_") for name in allowed(surroundings))
