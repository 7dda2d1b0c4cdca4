"""The documentation is true: generated pages are up to date, links lead somewhere, named scripts exist."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from aotloop.scripts.run import MODULES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_commands_is_up_to_date() -> None:
    assert (ROOT / "docs" / "cli.md").read_text() == generator().page(), "run: make docs"


def test_the_diagrams_are_those_of_the_tables() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert page == generator().architecture(page), "run: make docs"
    assert "in_progress --> pending: abandon, fail, reset" in page


def test_what_is_said_about_each_backend_is_what_it_says_itself() -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    assert page == generator().agents(page), "run: make docs"
    assert "| `codex` | native | native | " in page
    assert "npm install -g @openai/codex" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_script_is_documented() -> None:
    text = (ROOT / "docs" / "scripts.md").read_text()
    assert [name for name in MODULES if f"| `{name}` |" not in text] == []


def test_the_makefile_has_what_the_readme_promises() -> None:
    promised = re.findall(r"\$ make (\w+)", (ROOT / "README.md").read_text())
    makefile = (ROOT / "Makefile").read_text()
    assert promised
    assert [target for target in promised if f"\n{target}:" not in makefile] == []
