"""An attempt goes on from what a failed one left, where more of the check held than before; in doubt it is clean."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aotloop.core.model import Atom, AtomCheck, BaseCase, Check, ChecklistItem, Constraints, OrGroup
from aotloop.core.scheduler.reports import WorkFailed
from aotloop.execution.journals.journal import USED
from aotloop.execution.journals.records import Record
from tests.loops import atom
from tests.patience import until
from tests.runner.agents import Order, done, fails, scripted
from tests.runner.projects import Project, a_project, commands

FEW = Constraints(max_total_attempts=6)
FRESH = "From a fresh folder: nothing that earlier attempts at this atom changed is in it."


def files(*names: str) -> AtomCheck:
    return AtomCheck(group=tuple(map(file, names)))


def file(name: str) -> ChecklistItem:
    return ChecklistItem(item=f"there is {name}", check=Check(type="file", value=name))


def makes(folder: Path, *names: str, then: str = "true", is_done: bool = False) -> Order:
    """It writes down what it finds, makes these files, and says that it is done, or that it is not."""
    look = f"(git ls-files; git ls-files --others) | grep -v '^[.]' | sort | tr '\\n' ' ' >> {folder}/seen"
    run = "; ".join([look, f"echo >> {folder}/seen", *(f"echo made > {name}" for name in names), then])
    return done(run=run) if is_done else fails("no time left", run=run)


def seen(folder: Path) -> list[set[str]]:
    """By each attempt, what lay in its folder when it began, but for what was there from the beginning."""
    lines = (folder / "seen").read_text().splitlines()
    return [set(line.split()) - {"README.md", "aot.toml", "kept.txt"} for line in lines]


def record(project: Project, attempt: int) -> Record:
    """Of an attempt of which something was made."""
    path = project.root / ".aot" / "attempts" / f"A1-{attempt}" / USED
    return msgspec.json.decode(path.read_bytes(), type=Record)


def has_got_further(project: Project, attempt: int) -> bool:
    report = record(project, attempt).report
    assert isinstance(report, WorkFailed)
    return report.progress


def prompt(project: Project, attempt: int, name: str = "A1") -> str:
    return (project.root / ".aot" / "attempts" / f"{name}-{attempt}" / "prompt.md").read_text()


def a_job(folder: Path, orders: list[Order], *more_atoms: Atom, **more: Any) -> Project:
    """Of one atom, A1, that has to make one, two and three."""
    first = more.pop("first", atom("A1", check=files("one", "two", "three")))
    others = more.pop("others", {})
    more.setdefault("base_case", "test -f three")
    more.setdefault("constraints", FEW)
    return a_project(folder, first, *more_atoms, config=scripted(folder, {"A1": orders, **others}), **more)


def test_the_next_attempt_goes_on_where_part_of_the_check_held_and_is_one_commit_in_the_end(tmp_path: Path) -> None:
    orders = [makes(tmp_path, "one"), makes(tmp_path, "two"), makes(tmp_path, "three", is_done=True)]
    project = a_job(tmp_path, orders)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert seen(tmp_path) == [set(), {"one"}, {"one", "two"}]
    assert project.subjects() == ["A1: do A1"]
    assert project.files() >= {"one", "two", "three"}
    assert project.loop.control.tried == 3


def test_the_prompt_says_from_where_what_held_and_what_failed(tmp_path: Path) -> None:
    orders = [makes(tmp_path, "one"), makes(tmp_path, "two"), makes(tmp_path, "three", is_done=True)]
    project = a_job(tmp_path, orders)
    assert project.run().code == 0
    first = prompt(project, 1)
    assert "# Where you start\n\nFrom a fresh copy of the branch:" in first
    assert "got part of it done" not in first
    second, third = prompt(project, 2), prompt(project, 3)
    assert "Attempt 1 got part of it done, and the folder holds what it left." in second
    assert "this held there:\n> there is one\n" in second
    assert "This did not:\n> there is two: " in second
    assert "> there is three: " in second
    assert "Attempt 2 got part of it done" in third
    assert "this held there:\n> there is one\n> there is two\n" in third
    assert FRESH not in second + third


def test_a_claim_that_its_check_refutes_is_gone_on_from_too(tmp_path: Path) -> None:
    orders = [makes(tmp_path, "one", is_done=True), makes(tmp_path, "two", "three", is_done=True)]
    project = a_job(tmp_path, orders)
    assert project.run().code == 0
    assert seen(tmp_path) == [set(), {"one"}]
    assert has_got_further(project, 1)


def test_who_made_nothing_hold_leaves_a_clean_start(tmp_path: Path) -> None:
    orders = [makes(tmp_path, "useless"), makes(tmp_path, "one", "two", "three", is_done=True)]
    project = a_job(tmp_path, orders)
    assert project.run().code == 0
    assert seen(tmp_path) == [set(), set()]
    assert FRESH in prompt(project, 2)
    assert not has_got_further(project, 1)
    assert "useless" not in project.files()


def test_what_held_before_any_attempt_is_no_progress(tmp_path: Path) -> None:
    first = atom("A1", check=files("kept.txt", "one", "two"))
    orders = [makes(tmp_path, "useless"), makes(tmp_path, "one", "two", is_done=True)]
    project = a_job(tmp_path, orders, first=first, files={"kept.txt": "there\n"}, base_case="test -f two")
    assert project.run().code == 0
    assert seen(tmp_path) == [set(), set()]


def test_who_breaks_as_much_as_it_mends_leaves_a_clean_start(tmp_path: Path) -> None:
    first = atom("A1", check=files("kept.txt", "one", "two"))
    orders = [makes(tmp_path, "one", then="rm kept.txt"), makes(tmp_path, "one", "two", is_done=True)]
    project = a_job(tmp_path, orders, first=first, files={"kept.txt": "there\n"}, base_case="test -f two")
    assert project.run().code == 0
    assert seen(tmp_path) == [set(), set()]
    assert "kept.txt" in project.files()


def test_after_twice_the_usual_attempts_that_got_no_further_the_next_starts_clean(tmp_path: Path) -> None:
    """Before anything is resolved, two attempts are taken to be usual."""
    in_vain = makes(tmp_path, "litter")
    orders = [makes(tmp_path, "one"), *[in_vain] * 4, makes(tmp_path, "one", "two", "three", is_done=True)]
    project = a_job(tmp_path, orders, constraints=Constraints(max_total_attempts=60))
    assert project.run().code == 0
    assert seen(tmp_path) == [set(), *[{"one"}] * 4, set()]
    assert [has_got_further(project, number) for number in range(1, 6)] == [True, *[False] * 4]
    assert FRESH in prompt(project, 6)


def test_a_check_of_one_part_shows_no_progress(tmp_path: Path) -> None:
    check = AtomCheck(type="command", value="test -f one && test -f two")
    orders = [makes(tmp_path, "one"), makes(tmp_path, "one", "two", is_done=True)]
    project = a_job(tmp_path, orders, first=atom("A1", check=check), base_case="test -f two")
    assert project.run().code == 0
    assert seen(tmp_path) == [set(), set()]


def test_items_of_the_base_case_that_it_covers_show_progress(tmp_path: Path) -> None:
    first = atom("A1", covers=("item 1", "item 2"))
    orders = [makes(tmp_path, "one"), makes(tmp_path, "two", is_done=True)]
    project = a_job(tmp_path, orders, first=first, base_case=commands("test -f one", "test -f two"))
    assert project.run().code == 0
    assert seen(tmp_path) == [set(), {"one"}]
    assert "this held there:\n> item 1\n" in prompt(project, 2)


def test_a_protected_change_is_never_carried_nor_what_was_made_with_it(tmp_path: Path) -> None:
    orders = [
        makes(tmp_path, "one", then="echo mine > tests/test_it.py"),
        makes(tmp_path, "one", "two", "three", is_done=True),
    ]
    project = a_job(tmp_path, orders, files={"tests/test_it.py": "theirs\n"}, protect=("tests/**",))
    assert project.run().code == 0
    assert seen(tmp_path) == [{"tests/test_it.py"}, {"tests/test_it.py"}]
    assert project.git("show", "HEAD:tests/test_it.py") == "theirs"
    assert "mine" in project.git("show", "refs/aot/attempts/A1-1:tests/test_it.py")  # evidence is kept all the same


def test_who_trespassed_leaves_nothing_to_go_on_from(tmp_path: Path) -> None:
    outside = tmp_path / "project" / "README.md"
    orders = [
        makes(tmp_path, "one", then=f"echo 'I write to {outside}'; echo mine > {outside}"),
        makes(tmp_path, "one", "two", "three", is_done=True),
    ]
    project = a_job(tmp_path, orders)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "README.md" in ran.kinds("attempt_ended")[0]["summary"]
    assert seen(tmp_path) == [set(), set()]
    assert outside.read_text() == "a project\n"


def test_what_others_merged_meanwhile_is_there_too(tmp_path: Path) -> None:
    orders = [makes(tmp_path, "one", then="true"), makes(tmp_path, "two", "three", is_done=True)]
    orders[0]["touch"] = str(tmp_path / "begun")
    orders[0]["after"] = str(tmp_path / "project" / "other")
    other = done({"other": "theirs\n"}, after=str(tmp_path / "begun"))
    project = a_job(tmp_path, orders, atom("A2"), others={"A2": [other]}, base_case="test -f three -a -f other")
    ran = project.run()
    assert ran.code == 0, ran.out
    assert seen(tmp_path) == [set(), {"one", "other"}]
    assert project.files() >= {"one", "two", "three", "other"}


def test_what_does_not_go_together_with_a_newer_head_is_left_and_the_start_is_clean(tmp_path: Path) -> None:
    orders = [makes(tmp_path, "one"), makes(tmp_path, "two", "three", is_done=True)]
    orders[0]["touch"] = str(tmp_path / "begun")
    orders[0]["after"] = str(tmp_path / "project" / "one")
    other = done({"one": "theirs\n"}, after=str(tmp_path / "begun"))
    project = a_job(tmp_path, orders, atom("A2"), others={"A2": [other]})
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.git("show", "refs/aot/attempts/A1-1:one") == "made"
    assert seen(tmp_path) == [set(), {"one"}]
    assert FRESH in prompt(project, 3)
    assert project.git("show", "HEAD:one") == "theirs"


def test_a_run_that_is_killed_leaves_the_start_to_the_next(tmp_path: Path) -> None:
    waiting = makes(tmp_path, then=f"touch {tmp_path}/second; sleep 3600")
    orders = [makes(tmp_path, "one"), waiting, makes(tmp_path, "two", "three", is_done=True)]
    project = a_job(tmp_path, orders)
    with project.running() as process:
        until((tmp_path / "second").exists)
        process.send_signal(signal.SIGKILL)
        process.wait()
    ran = project.run()
    assert ran.code == 0, ran.out
    assert seen(tmp_path) == [set(), {"one"}, {"one"}]
    assert project.loop.control.tried == 2


def test_a_run_that_is_killed_while_it_compares_counts_the_failure_once_and_starts_clean(tmp_path: Path) -> None:
    """The record of the failure is there before the check is run that tells how far it got."""
    slow = f"test ! -f one || {{ touch {tmp_path}/checking; test -f {tmp_path}/go || sleep 3600; test -f one; }}"
    check = AtomCheck(group=(ChecklistItem(item="slow", check=Check(type="command", value=slow)), file("two")))
    orders = [makes(tmp_path, "one"), makes(tmp_path, "one", "two", "three", is_done=True)]
    project = a_job(tmp_path, orders, first=atom("A1", check=check))
    with project.running() as process:
        until((tmp_path / "checking").exists)
        process.send_signal(signal.SIGKILL)
        process.wait()
    (tmp_path / "go").touch()
    ran = project.run()
    assert ran.code == 0, ran.out
    assert seen(tmp_path) == [set(), set()]
    assert project.loop.control.tried == 2


def forged(path: Path, **changes: Any) -> None:
    before = msgspec.json.decode(path.read_bytes(), type=Record)
    assert before.kept is not None
    after = msgspec.structs.replace(before, kept=msgspec.structs.replace(before.kept, **changes))
    path.write_bytes(msgspec.json.encode(after))


@pytest.mark.parametrize("how", ["as it was", "gone", "torn", "another commit", "another attempt", "a pipe"])
def test_a_record_that_is_lost_or_says_something_else_means_a_clean_start(tmp_path: Path, how: str) -> None:
    orders = [makes(tmp_path, "one"), makes(tmp_path, "one", "two", "three", is_done=True)]
    project = a_job(tmp_path, orders, constraints=Constraints(max_total_attempts=1))
    assert project.run().code == 5
    path = project.root / ".aot" / "attempts" / "A1-1" / USED
    match how:
        case "as it was":
            pass
        case "gone":
            path.unlink()
        case "torn":
            path.write_bytes(path.read_bytes()[:50])
        case "another commit":
            forged(path, commit=project.git("rev-parse", "HEAD"))
        case "another attempt":
            forged(path, attempt=7)
        case _:
            path.unlink()
            os.mkfifo(path)
    assert project.aot("redirect", "--set", "max_total_attempts=3", "--yes").code == 0
    ran = project.run()
    assert ran.code == 0, ran.out
    assert seen(tmp_path) == [set(), {"one"} if how == "as it was" else set()]


def test_racers_and_commands_start_clean(tmp_path: Path) -> None:
    racers = [atom(name, or_group="G", check=files("one", "two")) for name in ("A1", "A2")]
    groups = {"G": OrGroup(choices=("A1", "A2"), selected="A1", speculative=True)}
    orders = [makes(tmp_path, "one"), makes(tmp_path, "one"), makes(tmp_path, "one", "two", is_done=True)]
    config = scripted(tmp_path, {"A1": orders, "A2": orders})
    project = a_project(tmp_path, *racers, config=config, base_case="test -f two", constraints=FEW, or_groups=groups)
    assert project.run().code == 0
    assert seen(tmp_path)
    assert all(not found for found in seen(tmp_path))


def test_in_place_the_prompt_says_that_nothing_was_taken_back(tmp_path: Path) -> None:
    orders = [makes(tmp_path, "one"), makes(tmp_path, "two", "three", is_done=True)]
    project = a_job(tmp_path, orders, git=False)
    assert project.run().code == 0
    assert "The folder is as earlier attempts at this atom left it: nothing was taken back." in prompt(project, 2)
    assert FRESH not in prompt(project, 2)


def test_what_only_fails_together_with_others_is_gone_on_from_too(tmp_path: Path) -> None:
    """It passed where it was made; merged with what came meanwhile, part of its check fails."""
    base = BaseCase(checklist=(file("two"), file("other")))
    check = AtomCheck(
        group=(
            file("one"),
            ChecklistItem(item="both", check=Check(type="command", value="test ! -f other || test -f two")),
        )
    )
    orders = [makes(tmp_path, "one", is_done=True), makes(tmp_path, "two", is_done=True)]
    orders[0]["touch"] = str(tmp_path / "begun")
    orders[0]["after"] = str(tmp_path / "project" / "other")
    other = done({"other": "theirs\n"}, after=str(tmp_path / "begun"))
    first = atom("A1", check=check)
    project = a_job(tmp_path, orders, atom("A2"), first=first, others={"A2": [other]}, base_case=base)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one["why"] for one in ran.kinds("not_merged")] == ["refused"]
    assert seen(tmp_path) == [set(), {"one", "other"}]
