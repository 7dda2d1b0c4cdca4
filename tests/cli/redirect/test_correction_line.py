"""One line has every flag of `aot redirect`, and says what is wrong with it."""

from __future__ import annotations

import click
import pytest

from aotloop.cli.redirect.correction_line import BEGINNINGS, changes_in_line
from aotloop.cli.redirect.flags import FLAGS, OF_THE_ADDED, flags
from aotloop.errors import AotError
from tests.loops import a_loop, atom

LOOP = a_loop(atom("A1"), atom("A2", "A1"))


def test_every_correction_of_the_command_has_a_beginning() -> None:
    names = {param.opts[0] for param in click.command()(flags(lambda: None)).params}
    offered = {one.line.split(" ")[0].partition("=")[0] for one in BEGINNINGS}
    assert len(names) == len(FLAGS)
    assert names - offered == {*OF_THE_ADDED.values(), "--base-case"}


def test_a_line_is_understood_as_the_command_is() -> None:
    changes = changes_in_line('--add "write it" --after A2 --run "make it" --reason "it was forgotten"', LOOP)
    assert changes.added is not None
    assert (changes.added.description, changes.added.depends_on, changes.added.run) == ("write it", ("A2",), "make it")
    assert (changes.commands, changes.reason) == (("make it",), "it was forgotten")
    assert changes_in_line("max_iterations=9", LOOP).limits == {"max_iterations": 9}
    assert changes_in_line("--summary A1='all of it' --retry A2", LOOP).results[0].summary == "all of it"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('--goal "no end', "not complete"),
        ("--nothing", "No such option"),
        ("--after A1", "use it together with --add"),
        ("", "nothing that should change"),
        ("max_iterations=many", "max_iterations"),
        ("--base-case /etc/passwd", "only by `aot redirect --base-case"),
        ("--help", "No such option"),
    ],
)
def test_what_is_not_understood_is_told_and_changes_nothing(line: str, why: str) -> None:
    with pytest.raises(AotError) as told:
        changes_in_line(line, LOOP)
    assert why.casefold() in str(told.value).casefold()
