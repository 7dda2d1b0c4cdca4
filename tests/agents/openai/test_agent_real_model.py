"""A real llama.cpp server with a real model: the agent's process speaks with it as with any other."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from aotloop.agents.contract import Done, Failed, Garbage
from aotloop.agents.openai.backend import OpenAi
from aotloop.agents.openai.order import Endpoint
from aotloop.cli.demo.local_model import PACKAGES, require_model, served
from aotloop.core.model import Constraints
from tests.agents.assignments import an_assignment, attempt
from tests.loops import atom
from tests.runner.projects import a_project

MISSING = [package for module, package in PACKAGES.items() if importlib.util.find_spec(module) is None]
pytestmark = [
    pytest.mark.client,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    with served(require_model(yes=False)) as url:
        yield url


def test_a_real_server_says_that_a_prompt_is_too_long(base_url: str, tmp_path: Path) -> None:
    backend = OpenAi(endpoint=Endpoint(base_url=base_url.removesuffix("/v1"), context=100_000))
    outcome = attempt(backend, an_assignment(tmp_path, prompt="word " * 6000))
    assert isinstance(outcome, Failed)
    assert outcome.cause == "too_long"


def test_a_real_model_writes_a_file_sooner_or_later(base_url: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    backend = OpenAi(endpoint=Endpoint(base_url=base_url, tools="no", context=2048, temperature=0.3))
    prompt = "Write a Python function `double(x)` that returns x times two, in double.py."
    for number in range(8):
        folder = tmp_path_factory.mktemp(f"attempt{number}")
        outcome = attempt(backend, an_assignment(folder, prompt=prompt))
        assert isinstance(outcome, Done | Garbage)
        assert outcome.tokens is not None
        assert outcome.tokens.output > 0, "the server counts"
        if isinstance(outcome, Done) and "def double" in (folder / "tree/double.py").read_text():
            return
    pytest.fail("not one of eight answers was a file")


def test_a_loop_as_the_page_of_agents_shows_it_ends_with_proof(base_url: str, tmp_path: Path) -> None:
    config = f"""agent = "local"
[agents.local]
kind = "openai"
base_url = "{base_url}"
tools = false
context = 2048
temperature = 0.3
"""
    words = "Write a Python function `double(x)` that returns x times two."
    project = a_project(
        tmp_path,
        atom("A1", description=words, touches=("double.py",), covers=("item 1",)),
        base_case='python3 -B -c "from double import double; assert double(4) == 8 and double(-1) == -2"',
        config=config,
        constraints=Constraints(effort="high"),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "return" in project.aot("show", "A1").out, "what the model wrote is in its transcript"
