"""The documentation is true: generated pages are up to date and complete; links lead somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args, get_type_hints

import click
import pytest
from docs.commands import taken_by
from docs.marked import replaced
from docs.messages import Reader
from docs.source import modules
from markdown_it import MarkdownIt
from msgspec import Struct

from aotloop.cli.main import aot
from aotloop.core.limits import EFFORTS, SET_BY_EFFORT
from aotloop.core.model import (
    Atom,
    Binding,
    Constraints,
    Control,
    Correction,
    Decomposition,
    Loop,
    Objective,
    OrGroup,
    TrailEntry,
)
from aotloop.scripts.run import MODULES
from docs import errors, generate, house_figures, package_map

ROOT = Path(__file__).parents[1]
NAMES = ("README.md", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").rglob("*.md"))]


def test_what_is_made_by_a_program_is_up_to_date() -> None:
    stale = [path.name for path, text in generate.pages().items() if path.read_text() != text]
    assert stale == [], "run: make docs"


def test_every_command_and_every_option_is_on_its_page() -> None:
    page = (ROOT / "docs" / "cli.md").read_text()
    sections = dict(re.findall(r"^#+ `(aot[^`]*)`\n(.*?)(?=^#|\Z)", page, re.DOTALL | re.MULTILINE))
    found = dict(commands(aot, click.Context(aot, info_name="aot", **aot.context_settings)))
    assert set(found) == set(sections)
    for path, command in found.items():
        options = {
            name
            for one in taken_by(command).params
            if isinstance(one, click.Option) and not one.hidden
            for name in one.opts
        }
        assert [name for name in options if name not in sections[path]] == [], path


def commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        yield inner.command_path, command
        if isinstance(command, click.Group):
            yield from commands(command, inner)


def test_the_diagrams_are_those_of_the_tables() -> None:
    assert "in_progress --> pending: abandon, fail, reset" in (ROOT / "docs" / "architecture.md").read_text()


def test_what_is_said_about_each_backend_is_what_it_says_itself() -> None:
    page = (ROOT / "docs" / "agents.md").read_text()
    assert "| `codex` | native | native | " in page
    assert "npm install -g @openai/codex" in page


def test_a_page_that_lost_its_marks_is_noticed() -> None:
    marked = "a\n<!-- made by `make docs`: x -->\nold\n<!-- end: x -->\nb\n"
    assert replaced(marked, {"x": "new"}) == marked.replace("old", "new\n")
    with pytest.raises(ValueError, match="has no part 'y'"):
        replaced(marked, {"y": "new"})


# --- the map -----------------------------------------------------------------------------------------------------


def test_every_package_is_on_the_map() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    package = ROOT / "src" / "aotloop"
    folders = (one.parent.relative_to(package) for one in package.rglob("*/__init__.py"))
    assert [name for folder in folders if f"| `{(name := '.'.join(folder.parts))}` |" not in page] == []


def test_every_package_says_its_rule() -> None:
    """A rule is a sentence; the name of the package is none."""
    rules = {name: rule for layer in package_map.layers() for unit in layer for name, rule in package_map.rules(unit)}
    assert [name for name, rule in rules.items() if len(rule.split()) < 4 or not rule.endswith(".")] == []


def test_the_map_is_that_of_any_package_tree(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        """
[[tool.importlinter.contracts]]
name = "No clock"
type = "forbidden"
[[tool.importlinter.contracts]]
name = "Downwards"
type = "layers"
containers = ["shop"]
layers = ["desk | (till)", "stock"]
"""
    )
    for name, text in {
        "desk/__init__.py": '"""Talks to\npeople. Always."""',
        "desk/bell/__init__.py": "",
        "till.py": '"""Money | coins"""',
        "stock/__init__.py": '"""What is there.\n\nMore."""',
    }.items():
        file = tmp_path / "src" / "shop" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert package_map.table(tmp_path).splitlines()[2:] == [
        "| 1 | `desk` | Talks to people. |",
        "| 1 | `desk.bell` |  |",
        "| 1 | `till` | Money \\| coins |",
        "| 2 | `stock` | What is there. |",
    ]
    assert "desk | till\nstock\n" in package_map.picture(tmp_path)
    assert package_map.picture(tmp_path).endswith("- No clock.")


# --- errors ------------------------------------------------------------------------------------------------------


MOST_WORDS = 25


def longest_sentence(text: str) -> int:
    return max(len(sentence.split()) for sentence in re.split(r"(?<=[.;:!?]) ", text))


def test_every_error_is_read_and_has_its_place_on_the_page() -> None:
    reader = Reader()
    areas = {one.area for one in reader.endings()}
    page = (ROOT / "docs" / "errors.md").read_text()
    assert reader.unknown() == [], "raised in a way that docs/messages.py cannot read"
    assert reader.uncalled() == [], "makes errors, and no call of it was found"
    told = {area for areas in (*errors.AREAS.values(), errors.UNLISTED) for area in areas}
    assert areas - told == set(), "has no place on the page: docs/errors.py"
    long = [one for one in reader.endings() for said in (one.text, one.hint) if longest_sentence(said) > MOST_WORDS]
    assert long == [], f"no sentence of a message has more than {MOST_WORDS} words"
    assert "`limit: … iterations, as many as allowed`" in page
    assert (
        " → `aot align` makes one, and agrees with you" in (ROOT / "docs" / "development" / "messages.txt").read_text()
    )


def test_errors_are_read_wherever_they_are_made(tmp_path: Path) -> None:
    package = tmp_path / "aotloop"
    (package / "cli").mkdir(parents=True)
    (package / "cli" / "some.py").write_text(
        """
from aotloop.errors import AotError, Unavailable
WHY = "it is late"
def plain(name):
    raise AotError(f"{name} is gone", hint="Look for it.")
def chosen(many):
    raise Unavailable(f"no file{'s' if many else ''}: {WHY}" + (" now" if many else " then"))
def made(what: str, hint: str | None = None) -> AotError:
    return AotError(f"some: {what}", hint=hint)
def calls():
    raise made("it broke", "Mend it.")
def odd():
    raise unheard_of("of")
"""
    )
    reader = Reader(modules(package))
    assert [(one.text, one.hint) for one in reader.endings()] == [
        ("no file[s]: it is late( now |  then)", ""),
        ("some: it broke", "Mend it."),
        ("… is gone", "Look for it."),
    ]
    assert reader.unknown() == ["aotloop.cli.some:13"]
    assert reader.uncalled() == []


# --- the site ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    built = build(ROOT, folder)
    assert built.returncode == 0, built.stderr
    return folder


def build(project: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Not with --quiet: warnings that are not printed are not counted either."""
    words = [sys.executable, "-m", "properdocs", "build", "--site-dir", str(folder)]
    return subprocess.run(words, cwd=project, capture_output=True, check=False, text=True)


class Counted(HTMLParser):
    """How many there are of what a reader sees as one thing."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.counts: Counter[str] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag in ("li", "tr", "pre", "h1", "h2", "h3", "img"):
            self.counts[tag] += 1


def test_the_site_shows_what_the_pages_say(site: Path) -> None:
    """The site's reader of Markdown is not that of GitHub: a list may be a list for only one of them."""
    markdown = MarkdownIt("commonmark").enable("table")
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").with_suffix(".html")
        built = (site / name.with_name("index.html" if name.name == "README.html" else name.name)).read_text()
        main = built.partition("<main>")[2].partition("<footer>")[0]
        assert Counted(main).counts == Counted(markdown.render(page.read_text())).counts, page.name


def test_a_bar_in_a_table_is_a_bar(site: Path) -> None:
    assert "&lt;running|stopped|completed&gt;" in (site / "scripts.html").read_text()


def test_the_site_needs_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        html = page.read_text()
        assert re.findall(r"<script(?! src=)", html) == [], page.name
        assert re.findall(r"""(?:src|rel="stylesheet" href)=["']?(?:https?:)?//""", html) == [], page.name
    for file in (*site.rglob("*.css"), *site.rglob("*.svg"), site / "site.js", site / "theme.js"):
        assert re.findall(r"@import|url\(['\"]?https?:|href=['\"]https?:", file.read_text()) == [], file.name


def test_the_pictures_of_terminals_say_nothing_about_the_machine() -> None:
    for name in ("run.svg", "status.svg", "graph.svg"):
        text = (ROOT / "docs" / name).read_text()
        assert re.findall(r"/(?:tmp|home|root|Users|work|var)\b", text) == [], name


def test_what_is_broken_is_noticed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copy(ROOT / "properdocs.yml", tmp_path)
    (tmp_path / "docs" / "lost.md").write_text("# Nobody leads here\n[there](why.md#nowhere), [or there](gone.md)\n")
    built = build(tmp_path, tmp_path / "site")
    assert built.returncode != 0
    for problem in ("lost.md", "does not contain an anchor '#nowhere'", "'gone.md', but the target is not found"):
        assert problem in built.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_leads_to_one(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


NOT_WRAPPED = {"cli.md"}
"""Made by a program."""


@pytest.mark.parametrize(
    "page", [one for one in PAGES if one.name not in NOT_WRAPPED], ids=lambda page: str(page.relative_to(ROOT))
)
def test_prose_wraps_where_the_sources_do(page: Path) -> None:
    by_hand = re.sub(r"^<!-- made by .*?^<!-- end|^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert [line for line in by_hand.splitlines() if len(line) > 120 and not line.startswith(("|", "![", "#"))] == []


MOST_WORDS_BY_HAND = 25_000


def test_the_pages_are_short_enough_to_be_kept_true() -> None:
    """More than that is not read, and not kept true: say a thing once, and link to it."""
    assert house_figures.words(generated=False) <= MOST_WORDS_BY_HAND


def test_every_script_is_documented() -> None:
    text = (ROOT / "docs" / "scripts.md").read_text()
    assert [name for name in MODULES if f"| `{name}` |" not in text] == []


def test_the_makefile_has_what_the_readme_promises() -> None:
    promised = re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert promised
    assert [target for target in promised if f"\n{target}:" not in makefile] == []


def test_make_demo_installs_only_what_running_needs_and_make_test_says_what_it_installs() -> None:
    """Seen: 45 seconds of silence before the demonstration, for tools of developers."""
    makefile = (ROOT / "Makefile").read_text()
    installed = dict(re.findall(r"^\.venv/\.(installed|ready): .*\n\t\$\(call install,(.*)\)$", makefile, re.MULTILINE))
    assert re.search(r"^demo: \.venv/\.installed ##", makefile, re.MULTILINE)
    assert installed["installed"].split(",")[1:] == ["web", "some seconds"]
    words, extras, *_ = installed["ready"].split(",")
    assert (words, extras.startswith("dev$(comma)")) == ("aotloop and what its tests need", True)
    assert '@echo "Installing $(1) into .venv (once; $(3))' in makefile


# --- the state file ----------------------------------------------------------------------------------------------


def keys_of(struct: type, found: dict[type, set[str]] | None = None) -> dict[type, set[str]]:
    """Of a struct, and of all that it holds."""
    found = {} if found is None else found
    if struct in found:
        return found
    found[struct] = set(struct.__struct_fields__)  # type: ignore[attr-defined]
    for hint in get_type_hints(struct).values():
        for one in structs_in(hint):
            keys_of(one, found)
    return found


def structs_in(hint: object) -> list[type]:
    if isinstance(hint, type) and issubclass(hint, Struct):
        return [hint]
    return [one for inner in get_args(hint) for one in structs_in(inner)]


@pytest.mark.parametrize(
    "struct",
    [Atom, OrGroup, Control, Constraints, Objective, Decomposition, TrailEntry, Correction, Binding],
    ids=lambda one: str(one.__name__),
)
def test_every_key_of_the_state_file_is_told(struct: type) -> None:
    page = (ROOT / "docs" / "state-file.md").read_text()
    assert [name for name in sorted(keys_of(Loop)[struct]) if f"`{name}`" not in page] == []


def test_the_table_of_limits_is_that_of_the_program() -> None:
    page = (ROOT / "docs" / "state-file.md").read_text()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.split("\n") if line.startswith("| `max_")]
    table = {row[0].strip("`"): row[1:4] for row in rows}
    for name in SET_BY_EFFORT:
        assert table[name] == [str(getattr(one, name)) for one in EFFORTS.values()]
    assert table["max_total_attempts"] == [f"{one.attempts_per_atom} per atom" for one in EFFORTS.values()]
