"""How a project's features are shipped: with which command tests are run, and with what of the person's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.core.phases.model import ShipSettings
from tests.config.writing import complaint, loaded

ALL = """
[ship]
test_command = "npx vitest run"
test_timeout = "5m"
[ship.commands]
plan = "/workflows:plan"
"""


def test_all_of_it(project: Path) -> None:
    config = loaded(project, ALL)
    expected = ShipSettings(test_command="npx vitest run", test_timeout=300.0, commands={"plan": "/workflows:plan"})
    assert config.ship == expected


def test_nothing_of_it(project: Path) -> None:
    assert loaded(project, "").ship == ShipSettings()


def test_a_person_is_shown_what_it_would_have_us_run(project: Path) -> None:
    assert loaded(project, ALL).permissions == (
        "acceptance tests are run with: npx vitest run",
        "the phase plan is done with: /workflows:plan",
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("[ship]\ntest_comand = 'x'", "there is no such key"),
        ("[ship]\ntest_command = ''", "is empty"),
        ("[ship.commands]\nplann = 'x'", "there is no such key"),
        ("[ship]\ncommands = 'x'", "must be a table"),
        ("ship = true", "must be a table"),
    ],
)
def test_mistakes_are_named(project: Path, settings: str, said: str) -> None:
    assert said in complaint(project, settings)[0]
