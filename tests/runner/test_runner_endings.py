"""However a run ends, nothing of it is left but what it is for; and what it did is neither lost nor doubled (§7)."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import atom
from tests.patience import PATIENCE, shell_until_there, until
from tests.runner.agents import done, scripted, times_asked
from tests.runner.leftovers import kept, leftovers, trailers
from tests.runner.projects import Project, a_project, asleep, commands

MESS = (
    "git checkout -q -b mess; git worktree add -q -b more .claude/worktrees/more; (setsid sleep 9511 &); echo x > half"
)


def at_work(tmp_path: Path) -> Project:
    """Two agents that made a mess and will not end, and one that is done."""
    endless = {"run": MESS.replace("mess", "mess-$AOT_ATOM_ID").replace("more", "more-$AOT_ATOM_ID"), "hang": True}
    orders = {"A1": [{**endless, "touch": str(tmp_path / "1")}], "A2": [{**endless, "touch": str(tmp_path / "2")}]}
    orders["A3"] = [done({"c": "c"})]
    config = scripted(tmp_path, orders)
    return a_project(tmp_path, atom("A1"), atom("A2"), atom("A3"), base_case="false", config=config)


def is_messy(project: Project) -> bool:
    """Each agent has a git folder of its own: what it does there is not seen in the person's."""
    made = {"mess-A1", "mess-A2", "more-A1", "more-A2"}
    folders = [Path(line.removeprefix("worktree ")) for line in project.worktrees()]
    there = {ref.name for folder in folders for ref in (folder / ".git" / "refs" / "heads").glob("*")}
    return made <= there and len(asleep(9511)) == 2


ENDINGS = {
    "aot stop": (None, 7, "user: stop requested"),
    "SIGTERM": (signal.SIGTERM, 143, "user: interrupted by SIGTERM"),
    "a closed terminal": (signal.SIGHUP, 129, "user: the terminal was closed (SIGHUP)"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_run_that_is_interrupted_takes_everything_with_it(tmp_path: Path, ending: str) -> None:
    number, code, reason = ENDINGS[ending]
    project = at_work(tmp_path)
    with project.running() as process:
        until(lambda: is_messy(project) and project.statuses()["A3"] == "resolved")
        if number is None:
            project.aot("stop")
        else:
            process.send_signal(number)
        assert process.wait(PATIENCE) == code
    assert project.loop.control.stop_reason == reason
    assert project.statuses() == {"A1": "pending", "A2": "pending", "A3": "resolved"}
    assert [one.attempts for one in project.loop.atoms] == [0, 0, 0]
    assert asleep(9511) == []
    assert {"A1", "A2"} <= {name.rpartition("-")[0] for name in kept(project)}  # what they had done so far
    assert project.files() == {"README.md", "aot.toml", "c"}
    assert leftovers(project) == []


@pytest.mark.parametrize("then", ["run", "clean"])
def test_what_a_killed_run_left_goes_with_the_next_run_or_with_clean(tmp_path: Path, then: str) -> None:
    project = at_work(tmp_path)
    with project.running() as process:
        until(lambda: is_messy(project) and project.statuses()["A3"] == "resolved")
        process.kill()
        process.wait()
    assert len(project.worktrees()) >= 2
    if then == "run":
        (tmp_path / "scripted.json").write_text(scripted_to_do(tmp_path))
        ran = project.run()
        assert ran.code == 4, ran.out + ran.err
        assert project.files() == {"README.md", "aot.toml", "a", "b", "c"}
    else:
        assert project.aot("clean").code == 0
        assert project.git("for-each-ref", "refs/aot") == ""
    assert asleep(9511) == []
    assert leftovers(project) == []


def scripted_to_do(tmp_path: Path) -> str:
    scripted(tmp_path, {"A1": [done({"a": "a"})], "A2": [done({"b": "b"})], "*": [{"say": "nothing"}]}, agent="other")
    return (tmp_path / "other.json").read_text()


def test_a_program_that_goes_away_meanwhile_blocks_and_costs_no_attempt(tmp_path: Path) -> None:
    ghost = tmp_path / "ghost"
    ghost.touch(mode=0o755)
    config = f'agent = "ghost"\n[agents.ghost]\nargv = ["{ghost}", "{{prompt}}"]\n'
    leaves = atom("A2", run=f"rm {ghost}")
    project = a_project(tmp_path, atom("A1", "A2"), leaves, base_case="false", config=config)
    ran = project.run()
    assert ran.code == 6, ran.out
    assert project.loop.control.stop_reason == f"blocked: A1: there is no program {ghost}"
    assert project.statuses() == {"A1": "pending", "A2": "resolved"}
    assert project.atom("A1").attempts == 0
    assert leftovers(project) == []


def test_a_finished_result_of_a_killed_run_is_taken_up_and_not_paid_for_twice(tmp_path: Path) -> None:
    orders = {"A1": [done({"a": "a"}, summary="paid for")]}
    check = AtomCheck(
        type="command", value=f"touch {tmp_path}/checking; test -e {tmp_path}/go || sleep 9521; test -f a"
    )
    project = a_project(tmp_path, atom("A1", check=check), base_case="test -f a", config=scripted(tmp_path, orders))
    with project.running() as process:
        until((tmp_path / "checking").exists)  # so the attempt is over, and its result is on disk
        process.kill()
        process.wait()
    (tmp_path / "go").touch()
    ran = project.run()
    assert ran.code == 0, ran.out
    assert times_asked(tmp_path, "A1") == 1
    assert project.loop.bindings["A1"].summary == "paid for"
    assert trailers(project, "Aot-Attempt") == "1"
    assert asleep(9521) == []
    assert leftovers(project) == []


def test_killed_again_and_again_nothing_is_lost_and_nothing_is_done_twice(tmp_path: Path) -> None:
    atoms = 5
    chain = [
        atom(f"A{number}", *([f"A{number - 1}"] if number > 1 else []), run=f"echo {number} >> list")
        for number in range(1, atoms + 1)
    ]
    beside = [atom(f"B{number}", run=f"echo {number} > b{number}") for number in range(1, 4)]
    project = a_project(
        tmp_path,
        *chain,
        *beside,
        base_case=commands(f"test $(cat list | wc -l) = {atoms}", "test -f b1 -a -f b2 -a -f b3"),
        constraints=Constraints(max_parallel_agents=2, max_iterations=99),
    )
    events = project.root / ".aot" / "events.jsonl"

    def size() -> int:
        return events.stat().st_size if events.exists() else 0

    for step in (1, 900, 1500, 2100, 2700):  # at whatever it does after so many bytes of news
        with project.running() as process:
            until(lambda: size() >= step or process.poll() is not None)  # noqa: B023
            process.kill()
            process.wait()
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert (project.root / "list").read_text() == "".join(f"{number}\n" for number in range(1, atoms + 1))
    assert sorted(project.subjects()) == sorted(f"{one.id}: do {one.id}" for one in (*chain, *beside))
    assert set(project.statuses().values()) == {"resolved"}
    assert [one.attempts for one in project.loop.atoms] == [0] * 8
    assert project.is_clean()
    assert leftovers(project) == []


def test_a_journal_that_is_gone_costs_no_state(tmp_path: Path) -> None:
    wait = f"touch {tmp_path}/begun; {shell_until_there(tmp_path / 'go')}"
    project = a_project(
        tmp_path,
        atom("A1", run="echo 1 >> list"),
        atom("A2", "A1", run=f"{wait}; echo 2 >> list"),
        atom("A3", "A2", run="echo 3 >> list"),
        base_case="test $(cat list | wc -l) = 3",
    )
    with project.running() as process:
        until((tmp_path / "begun").exists)
        process.kill()
        process.wait()
    shutil.rmtree(project.root / ".aot")
    (tmp_path / "begun").unlink()
    with project.running() as process:
        until((tmp_path / "begun").exists)
        shutil.rmtree(project.root / ".aot")  # and once more, under the feet of a run
        (tmp_path / "go").touch()
        assert process.wait(PATIENCE) == 0
    assert (project.root / "list").read_text() == "1\n2\n3\n"
    assert project.subjects() == ["A1: do A1", "A2: do A2", "A3: do A3"]
    attempts = [trailers(project, "Aot-Attempt", f"HEAD~{back}") for back in (2, 1, 0)]
    assert len(set(attempts)) == 3  # no number is used twice
    assert leftovers(project) == []


def test_killed_between_giving_up_and_taking_back_the_next_run_takes_it_back(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo p > p"),
        atom("Q", or_group="G", run=f"touch {tmp_path}/begun; test -e {tmp_path}/go || sleep 9531; echo q > q"),
        atom("D", "P", run="test -f q"),
        base_case="test -f q",
        constraints=Constraints(max_attempts=1),
    )
    with project.running() as process:
        until((tmp_path / "begun").exists)
        process.kill()
        process.wait()
    assert project.subjects() == ["P: do P", "Take back P"]
    project.git("reset", "-q", "--soft", "HEAD~1")  # as if it had been killed a moment before
    project.git("checkout", "-q", "HEAD", "--", "p")
    (tmp_path / "go").touch()
    ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert project.files() == {"README.md", "q"}
    assert project.subjects() == ["P: do P", "Take back P", "Q: do Q"]
    assert leftovers(project) == []
