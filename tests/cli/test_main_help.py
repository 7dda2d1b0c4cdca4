"""Every command explains itself: in a sentence, with examples, and in the same options as the others."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from aotloop.cli.main import COMMANDS, aot
from aotloop.cli.main import GROUPS as TITLES
from tests.cli.terminal import aot as run
from tests.cli.terminal import spawn


def all_commands() -> Iterator[tuple[str, ...]]:
    context = click.Context(aot, info_name="aot", **aot.context_settings)
    for name in aot.list_commands(context):
        yield (name,)
        found = aot.get_command(context, name)
        if isinstance(found, click.Group):
            for inner in found.list_commands(context):
                yield (name, inner)


GROUPS = [("atom",), ("or",), ("plugin",)]
EVERY = list(all_commands())
LEAVES = [words for words in EVERY if words not in GROUPS]
WITHOUT_JSON = {"completion", "demo", "dev-cluster", "mcp", "notify", "plugin", "serve", "worker"}


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_every_command_has_an_example_of_itself(words: tuple[str, ...]) -> None:
    ran = run(*words, "--help")
    assert ran.code == 0
    assert "Example" in ran.out
    assert f"\n    aot {' '.join(words)}" in ran.out
    assert run(*words, "-h").out == ran.out


@pytest.mark.parametrize(
    "words",
    [
        words
        for words in LEAVES
        if words[0] not in {"completion", "demo", "dev-cluster", "mcp", "notify", "plugin", "serve", "worker"}
    ],
    ids=" ".join,
)
def test_every_command_that_reads_or_changes_state_speaks_json_about_any_file(words: tuple[str, ...]) -> None:
    text = run(*words, "--help").out
    assert "--json" in text
    assert ("--state-file FILE" in text) == (words[0] != "ship")  # there is one feature in a project, in one place


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_no_line_of_help_is_cut_off(words: tuple[str, ...]) -> None:
    assert "..." not in run(*words, "--help").out.replace("[ARGS]...", "")


def test_the_table_of_commands_says_what_the_commands_say() -> None:
    context = click.Context(aot, info_name="aot", **aot.context_settings)
    for name, summary in COMMANDS.items():
        found = aot.get_command(context, name)
        assert found is not None
        assert found.help
        assert found.help.split()[0] == summary.split()[0], name


def test_help_and_version_come_from_the_installed_command() -> None:
    version = spawn("--version")
    assert (version.code, version.err) == (0, "")
    assert version.out.startswith("aot ")
    shown = spawn("--help")
    assert shown.code == 0
    assert [name for name in COMMANDS if f"\n  {name} " not in shown.out] == []


def test_without_a_command_the_help_is_shown_as_a_mistake() -> None:
    for words, heading in (([], "Agree on the work:"), (["atom"], "Commands:"), (["or"], "Commands:")):
        ran = spawn(*words)
        assert (ran.code, ran.out) == (2, "")
        assert heading in ran.err


def test_help_groups_its_commands() -> None:
    assert [f"\n{title}:\n" for title in TITLES if f"\n{title}:\n" not in spawn("--help").out] == []
