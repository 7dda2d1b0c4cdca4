"""Who goes on is told that the last task is over, and what not to rely on."""

from __future__ import annotations

from aotloop.agents.prompts.follow_up import follow_up


def test_the_task_itself_is_told_in_full() -> None:
    assert follow_up("Do this.\n", ()).endswith("\n\nDo this.\n")
    assert "as you left it" in follow_up("Do this.\n", ())


def test_files_that_others_changed_are_named_one_a_line() -> None:
    told = follow_up("Do this.", ("src/a.py", "odd\nname"))
    assert "\n> src/a.py\n> odd name\n" in told


def test_of_very_many_files_some_are_named_and_the_others_counted() -> None:
    told = follow_up("Do this.", [f"f{number}" for number in range(60)])
    assert "> f49\n> and 10 more\n" in told
    assert "f50" not in told


def test_where_nobody_can_tell_nothing_is_to_be_relied_on() -> None:
    assert "Read a file again" in follow_up("Do this.", None)
