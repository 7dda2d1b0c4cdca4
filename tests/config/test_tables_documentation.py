"""The page about configuration is true: its examples load, and no key or variable is missing from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aotloop.agents.answers.answer_schema import WorkerResult
from aotloop.agents.answers.validation import read_result
from aotloop.config.schema import Config
from aotloop.config.sources import VARIABLES
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


def test_the_answers_of_a_program_are_read_as_the_page_says(tmp_path: Path) -> None:
    answers = re.findall(r"^```json\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "parser.py").touch()
    results = [read_result("worker", answer, tmp_path).result for answer in answers]
    assert [isinstance(one, WorkerResult) and one.success for one in results] == [True, False]
