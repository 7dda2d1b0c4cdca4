"""Modules have names, places and sizes by which an engineer finds them, and the tests mirror the packages.

An exception stands in a table, with its reason. An exception that is not needed any more fails, too.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path, PurePath

import pytest

from tests.stories import STORIES

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "aotloop"
TESTS = ROOT / "tests"

VAGUE = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}
NAMESAKES = {
    "agents/*/backend": "each client has one, and they have the same interface",
}
FACES = {"cli", "hooks", "mcp", "scripts", "web"}
SHARED_NAMES = {
    "output": "of a process, and of the command line",
    "receipts": "the rule in the core, and its files",
}
GERUNDS = {
    "core/handlers/backtracking": "the name of the method in the literature",
}
LONG, TOO_LONG = 250, 320
WIDE = 15
"""Modules side by side; more get folders by subject."""
LONG_MODULES = {
    "app/history/event_words": "one table: a sentence for each event",
    "config/values": "one reader for each kind of value",
    "core/events": "one table: every event of the machine",
    "core/graph/work_graph": "one class: all questions about the graph use the same indexes",
    "core/model": "one table: every entry of the state file",
    "execution/attempts/attempt": "the life of one attempt, from its place to its result",
    "execution/journals/journal": "one format: every file of the journal is written and read in one place",
    "fence/checkout_witness": "one comparison: what is looked at before and after stands in one place",
    "git/checkout/fast_forward": "one transaction on a checkout that other programs change meanwhile",
    "phases/receipts": "everything that a phase loop is told, under one rule of locking",
    "runner/runner": "one conversation between file, scheduler and tasks, from its first exchange to its last",
    "statefile/yaml/careful_reader": "one class: a case for each type of value",
}

UNCLEAR = re.compile(r"\b(whoever|whomever|whom|nobody|somebody|anybody|everybody)\b", re.IGNORECASE)
"""Words that readers with English as a second language stumble over. Say which person, agent or program it is."""
QUOTED = {
    "docs/decisions/0017-one-house.md": "it counts how often the words occurred",
}


@cache
def modules() -> list[PurePath]:
    """All modules without `__init__`, as paths from the package `aotloop`."""
    found = [path.relative_to(SOURCE).with_suffix("") for path in SOURCE.rglob("*.py")]
    return sorted(path for path in found if path.name != "__init__")


def packages() -> list[PurePath]:
    return sorted(path.parent.relative_to(SOURCE) for path in SOURCE.rglob("__init__.py"))


def files_of_tests() -> list[PurePath]:
    return sorted(path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))


def namesakes(paths: Iterable[PurePath]) -> list[str]:
    """Names that modules of sibling packages share, as `parent/*/name`."""
    found: defaultdict[str, set[PurePath]] = defaultdict(set)
    for path in paths:
        if len(path.parts) > 1:
            found[str(path.parent.parent / "*" / path.name)].add(path)
    return sorted(name for name, sharing in found.items() if len(sharing) > 1)


def shared_names(paths: Iterable[PurePath]) -> list[str]:
    """Names in packages that have nothing to do with each other.

    A command or a script, its use case and its rule in the core share a noun: the reader follows it downwards. The
    machine of phases has the same parts as the machine of atoms.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in paths:
        top = path.parts[0]
        found[path.name].add("app" if top in FACES | {"core"} else top)
    return sorted(name for name, tops in found.items() if len(tops) > 1)


def gerunds(paths: Iterable[PurePath]) -> list[str]:
    return [str(path) for path in paths if path.name.endswith("ing")]


def vague(paths: Iterable[PurePath]) -> list[str]:
    return [str(path) for path in paths if VAGUE & set(path.name.split("_"))]


def names_a_module(test: str, names: Iterable[str]) -> bool:
    """Whether a test file is `test_<module>.py` or `test_<module>_<aspect>.py`."""
    about = test.removeprefix("test_").removesuffix(".py")
    return any(about == name or about.startswith(f"{name}_") for name in names)


@cache
def names_under_test(folder: PurePath) -> set[str]:
    """The modules that tests of a folder are about: of our package, else of a tool, else of the folder itself."""
    if (SOURCE / folder).is_dir():
        return {path.name for path in modules() if path.parent == folder}
    source = next(path for path in (ROOT / folder, TESTS / folder) if path.is_dir())
    return {path.stem for path in source.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def test_no_two_modules_of_sibling_packages_have_the_same_name() -> None:
    assert namesakes(modules()) == sorted(NAMESAKES)


def test_modules_of_unrelated_packages_do_not_share_a_name() -> None:
    assert shared_names(modules()) == sorted(SHARED_NAMES)


def test_no_module_is_named_by_a_gerund() -> None:
    assert sorted(gerunds([*modules(), *packages()])) == sorted(GERUNDS)


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert vague([*modules(), *packages()]) == []


def test_modules_are_short_enough_to_be_read_at_once() -> None:
    lines = {str(path): len((SOURCE / f"{path}.py").read_text().splitlines()) for path in modules()}
    assert [name for name, count in lines.items() if count > TOO_LONG] == []
    assert sorted(name for name, count in lines.items() if count > LONG) == sorted(LONG_MODULES)


def test_no_package_has_too_many_modules_side_by_side() -> None:
    count = Counter(str(path.parent) for path in modules())
    assert [name for name, many in count.items() if many > WIDE] == []


def test_no_text_says_whoever_or_nobody() -> None:
    """In sources, pages, and texts of the plugin; names of tests on the page about security are one word each."""
    folders = (ROOT / name for name in ("src", "docs", "plugin"))
    files = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".md", ".js", ".html")]
    files += ROOT.glob("*.md")
    assert len(files) > 500
    found = {str(path.relative_to(ROOT)) for path in files if UNCLEAR.search(path.read_text(encoding="utf-8"))}
    assert sorted(found) == sorted(QUOTED)


def test_a_variable_says_what_it_holds() -> None:
    """`one` says nothing: one attempt, one path, one line?"""
    bound = re.compile(r"\b(for|lambda) one( in |:)|, one in |\bone = |\(one := ")
    assert [str(path) for path in modules() if bound.search((SOURCE / f"{path}.py").read_text())] == []


def test_only_the_entries_of_hooks_know_a_store() -> None:
    """The decisions are pure: what they are told goes in, what follows from it comes out."""
    found = [path for path in modules() if path.parts[0] == "hooks" and "Store" in (SOURCE / f"{path}.py").read_text()]
    assert [str(path) for path in found] == ["hooks/entry", "hooks/phases/phase_entry"]


def test_every_package_has_a_folder_of_tests() -> None:
    assert [str(path) for path in packages() if not any((TESTS / path).rglob("test_*.py"))] == []


def test_every_test_file_names_its_module_or_is_a_story() -> None:
    unnamed = {str(path) for path in files_of_tests() if not names_a_module(path.name, names_under_test(path.parent))}
    assert sorted(unnamed - set(STORIES)) == [], "neither names a module of its package nor is in tests/stories.py"
    assert sorted(set(STORIES) - unnamed) == [], "is in tests/stories.py without need"


@pytest.mark.parametrize(
    ("paths", "shared"),
    [
        (("git/command", "agents/command"), ["*/command"]),
        (("core/phases/status", "core/handlers/status"), ["core/*/status"]),
        (("core/model", "core/phases/model", "cli/ui/model"), []),
        (("clock", "text/clock"), []),
    ],
)
def test_namesakes_are_found_among_siblings_only(paths: tuple[str, ...], shared: list[str]) -> None:
    assert namesakes(map(PurePath, paths)) == shared


@pytest.mark.parametrize(
    ("paths", "shared"),
    [
        (("cli/commands/control/stop", "app/run/stop", "core/handlers/stop"), []),
        (("core/machine", "core/phases/machine"), []),
        (("git/checkout/state", "scripts/loop/state"), ["state"]),
    ],
)
def test_shared_names_are_found_in_unrelated_packages_only(paths: tuple[str, ...], shared: list[str]) -> None:
    assert shared_names(map(PurePath, paths)) == shared


@pytest.mark.parametrize(
    ("name", "is_wrong"),
    [
        ("core/landing", (True, False)),
        ("core/git_utils", (False, True)),
        ("base", (False, True)),
        ("core/database", (False, False)),
        ("core/ingredients", (False, False)),
    ],
)
def test_wrong_names_are_found(name: str, is_wrong: tuple[bool, bool]) -> None:
    paths = [PurePath(name)]
    assert (bool(gerunds(paths)), bool(vague(paths))) == is_wrong


@pytest.mark.parametrize(
    ("test", "is_named"),
    [
        ("test_budget.py", True),
        ("test_budget_spending.py", True),
        ("test_budgets.py", False),
        ("test_spending.py", False),
    ],
)
def test_a_test_names_a_module_by_whole_words(test: str, is_named: bool) -> None:
    assert names_a_module(test, {"budget", "journal"}) is is_named


def test_the_root_holds_no_module_and_no_empty_file() -> None:
    """Seen: a program that a model had written was run here, and left an empty file."""
    files = [path for path in ROOT.iterdir() if path.is_file()]
    assert [path.name for path in files if path.suffix == ".py" or not path.stat().st_size] == []


@pytest.mark.parametrize("call", ["shutil.rmtree(", "shutil.copytree(", "os.walk(", ".rglob("])
def test_folders_that_agents_write_are_walked_copied_and_removed_in_one_way(call: str) -> None:
    """Those of the library are recursive, and some wait for a pipe: see aotloop.foreign_tree and aotloop.deletion."""
    found = [str(path) for path in modules() if call in (SOURCE / path).with_suffix(".py").read_text()]
    assert found == (["cli/demo/stage"] if call == "shutil.copytree(" else [])
