"""The page about configuration is true: its examples load, and no key or variable is missing from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aotloop.config import Config
from aotloop.config.layers import VARIABLES
from aotloop.config.tables import _AGENT, _ROLE, _SHIP, _TIMEOUTS, KEYS
from tests.config.writing import loaded

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```toml\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_can_be_used_as_it_stands(project: Path, example: str) -> None:
    config = loaded(project, example)
    assert config != Config(source=config.source)
    for name in config.agents:
        config.agent_settings(name)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 3


@pytest.mark.parametrize("name", [*KEYS, *VARIABLES, *_AGENT, *_ROLE, *_TIMEOUTS, *_SHIP])
def test_every_key_and_variable_is_on_the_page(name: str) -> None:
    assert re.search(rf"`(agents\.NAME\.|roles\.(ROLE|judge)\.|timeouts\.|ship\.)?{name}`", PAGE)
