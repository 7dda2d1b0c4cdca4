"""What the page about judging shows is what we understand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec
import yaml

from aotloop.config.sources import load
from aotloop.core.checks.checklist import problems_of_base_case
from aotloop.core.checks.quality import criteria_of
from aotloop.core.model import BaseCase

PAGE = (Path(__file__).parents[3] / "docs" / "judging.md").read_text()


def example(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_checklist_of_the_example_is_valid() -> None:
    base_case = msgspec.convert(yaml.safe_load(example("yaml")), BaseCase, strict=False)
    assert list(problems_of_base_case(base_case, ())) == []
    checks = [item.check for item in base_case.checklist or () if item.check is not None]
    assert [check.type for check in checks] == ["command", "quality", "quality", "assertion"]
    assert [one.criterion for one in criteria_of(checks[1])] == ["Clarity", "Brevity"]


def test_the_configuration_of_the_example_means_what_it_says(tmp_path: Path) -> None:
    text = example("toml")
    assert tomllib.loads(text)["roles"]["judge"]["votes"] == 3
    (tmp_path / "aot.toml").write_text(text)
    config = load(tmp_path)
    assert (config.agent_of("worker"), config.agent_of("judge"), config.agent_of("verifier")) == (
        "codex",
        "claude",
        "claude",
    )
    assert (config.role("judge").votes, config.role("judge").model) == (3, "opus")
