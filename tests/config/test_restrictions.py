"""A project can only ask for less than the person permits."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.config.sources import load
from tests.config.writing import project_says, user_says

CASES = [
    ("sandbox", '"auto"', '"off"', "auto"),
    ("sandbox", '"auto"', '"landlock"', "auto"),
    ("sandbox", '"landlock"', '"bwrap"', "bwrap"),
    ("sandbox", '"off"', '"bwrap"', "bwrap"),
    ("network", '"none"', '"all"', "none"),
    ("network", '"all"', '"none"', "none"),
    ("network", '["a.example", "b.example"]', '["b.example", "c.example"]', ("b.example",)),
    ("network", '["a.example"]', '["c.example"]', "none"),
    ("writable", '["~/.npm"]', '["/etc"]', ("~/.npm",)),
    ("max_attempt_cost_usd", "2.0", "5.0", 2.0),
    ("max_attempt_cost_usd", "5.0", "2.0", 2.0),
]


@pytest.mark.parametrize(("key", "user", "project_file", "expected"), CASES)
def test_the_stricter_one_counts(
    project: Path, own_home: Path, key: str, user: str, project_file: str, expected: object
) -> None:
    user_says(own_home, f"{key} = {user}")
    project_says(project, f"{key} = {project_file}")
    assert getattr(load(project, environ={"HOME": str(own_home)}), key) == expected


def test_a_project_alone_can_tighten_and_cannot_loosen(project: Path, own_home: Path) -> None:
    project_says(project, 'sandbox = "off"\nnetwork = "none"\nwritable = ["/"]\nmax_attempt_cost_usd = 1.0\n')
    config = load(project, environ={"HOME": str(own_home)})
    assert (config.sandbox, config.network, config.writable, config.max_attempt_cost_usd) == ("auto", "none", (), 1.0)
    assert config.fence is not None
