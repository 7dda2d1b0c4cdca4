"""A person edits the state file while a run holds it: what is taken, what is restored, what is waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from aotloop.core.model import Constraints
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Run
from aotloop.errors import StateFileInvalid
from aotloop.runner.ledger import Exchanged, Ledger, Rules
from aotloop.statefile import durable
from aotloop.statefile.store import Store
from tests.loops import a_loop, atom, write_loop
from tests.patience import PATIENCE, give_way, shell_until_there, until
from tests.runner.agents import ANYBODY, done, scripted
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project, processes_with
from tests.warm import Process

ADDED = """\
  - id: A9
    description: "write the ninth"   # by hand
    status: pending
    depends_on: [A1]
"""


def waits_for(path: Path, then: str = "true") -> str:
    """A command that goes on when this file is there."""
    return f"{shell_until_there(path)}; {then}"


def saved(path: Path, change: Callable[[str], str]) -> str:
    """As most editors do it: the same file, emptied and written. Returns what was saved."""
    text = change(path.read_text())
    path.write_text(text)
    return text


def inserted(added: str, before: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert text.count(before) == 1
        return text.replace(before, added + before)

    return change


def replaced(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new)

    return change


def warnings(project: Project) -> list[str]:
    return [one["text"] for one in project.news() if one["kind"] == "warning"]


def corrections(project: Project) -> list[str]:
    return [one["text"] for one in project.news() if one["kind"] == "correction"]


@pytest.fixture
def go(tmp_path: Path) -> Path:
    return tmp_path / "go"


@contextmanager
def held_up(project: Project, first: str = "A1") -> Iterator[Process]:
    """A run whose first atom is in progress."""
    with project.running() as process:
        until(lambda: project.statuses()[first] == "in_progress" and (project.root / ".aot" / "attempts").is_dir())
        yield process


# --- what is added and reworded ----------------------------------------------------------------------------------


def test_an_atom_added_by_hand_is_done(tmp_path: Path, go: Path) -> None:
    config = scripted(tmp_path, {"A9": [done({"nine": "9\n"})]})
    project = a_project(tmp_path, atom("A1", run=waits_for(go, "echo a > a")), base_case="test -f nine", config=config)
    with held_up(project) as process:
        saved(project.state_file, inserted(ADDED, "decompositions:"))
        until(lambda: corrections(project))
        go.touch()
        assert process.wait(PATIENCE) == 0
    assert project.statuses() == {"A1": "resolved", "A9": "resolved"}
    assert corrections(project) == ["added A9"]
    (correction,) = project.loop.corrections
    assert (correction.type, correction.description) == ("dag_adjustment", "added A9")
    assert "# by hand" in project.state_file.read_text()
    assert leftovers(project) == []


def test_an_agent_is_told_what_an_atom_says_now(tmp_path: Path, go: Path) -> None:
    config = scripted(tmp_path, {ANYBODY: [done({"b": "b\n"})]})
    project = a_project(
        tmp_path, atom("A1", run=waits_for(go, "echo a > a")), atom("A2", "A1"), base_case="test -f b", config=config
    )
    with held_up(project) as process:
        saved(project.state_file, replaced('"do A2"', '"do A2, but without a database"'))
        until(lambda: corrections(project))
        go.touch()
        assert process.wait(PATIENCE) == 0
    (prompt,) = (project.root / ".aot" / "attempts").glob("A2-*/prompt.md")
    assert "> do A2, but without a database" in prompt.read_text()
    assert corrections(project) == ["changed description of A2"]


def test_a_command_added_by_hand_is_not_run_before_it_is_accepted(tmp_path: Path, go: Path) -> None:
    project = a_project(tmp_path, atom("A1", run=waits_for(go, "echo a > a")), base_case="test -f a")
    evil = ADDED + f"    run: touch {tmp_path}/evil\n"
    with held_up(project) as process:
        saved(project.state_file, inserted(evil.replace("depends_on: [A1]", "depends_on: []"), "decompositions:"))
        assert process.wait(PATIENCE) == 6
    assert not (tmp_path / "evil").exists()
    assert "commands that were not accepted" in str(project.loop.control.stop_reason)
    refused = project.aot("run", "--json")
    assert refused.code != 0
    assert not (tmp_path / "evil").exists()
    go.touch()
    assert project.run().code == 0  # --yes
    assert (tmp_path / "evil").exists()


@pytest.mark.parametrize("key", ["run", "check", "base_case"])
def test_a_command_changed_by_hand_is_not_run_before_it_is_accepted(tmp_path: Path, go: Path, key: str) -> None:
    evil = f"touch {tmp_path}/evil"
    config = scripted(tmp_path, {ANYBODY: [done({"b": "b\n"})]})
    project = a_project(
        tmp_path,
        atom("A1", run=waits_for(go, "echo a > a")),
        atom("A2", "A1", **({"run": "echo b > b"} if key == "run" else {})),
        base_case="test -f b",
        config=config,
    )
    old, new = {
        "run": ("echo b > b", evil),
        "check": ("    depends_on: [A1]\n", f"    depends_on: [A1]\n    check: {{type: command, value: {evil}}}\n"),
        "base_case": ("test -f b", evil),
    }[key]
    with held_up(project) as process:
        saved(project.state_file, replaced(old, new))
        assert process.wait(PATIENCE) == 6
    assert not (tmp_path / "evil").exists()
    assert str(project.loop.control.stop_reason).startswith("blocked: ")
    assert leftovers(project) == []


# --- what is restored --------------------------------------------------------------------------------------------


def test_what_a_stale_buffer_undoes_is_restored_and_told(tmp_path: Path, go: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="echo a > a"),
        atom("A2", "A1", run=waits_for(go, "echo b > b")),
        base_case="test -f b",
    )
    stale = project.state_file.read_text()
    with held_up(project, "A2") as process:
        before = project.loop
        saved(project.state_file, lambda _: stale.replace("atoms:", "atoms:  # all of them"))
        until(lambda: warnings(project))
        now = project.loop
        assert now.bindings == before.bindings
        assert [one.status for one in now.atoms] == ["resolved", "in_progress"]
        assert now.control.iteration == before.control.iteration > 0
        assert now.control.run_id == before.control.run_id
        go.touch()
        assert process.wait(PATIENCE) == 0
    (warning, *_) = [text for text in warnings(project) if "restored" in text]
    assert warning.startswith("restored what an edit of the file had undone: ")
    told = " ".join(warnings(project))
    for fact in ("A1: status", "control: iteration", "bindings"):
        assert fact in told
    assert "atoms:  # all of them" in project.state_file.read_text()
    assert project.subjects() == ["A1: do A1", "A2: do A2"]


def test_a_buffer_from_before_the_run_does_not_stop_it(tmp_path: Path, go: Path) -> None:
    project = a_project(tmp_path, atom("A1", run=waits_for(go, "echo a > a")), base_case="test -f a")
    with held_up(project):
        assert project.aot("stop", "--reason", "lunch").code == 0
    stale = project.state_file.read_text()
    assert "status: stopped" in stale
    with held_up(project) as process:
        saved(project.state_file, lambda _: stale.replace('"do A1"', '"do A1 well"'))
        until(lambda: corrections(project))
        go.touch()
        assert process.wait(PATIENCE) == 0
    assert project.atom("A1").description == "do A1 well"
    assert any("control: " in text and "status" in text for text in warnings(project))


def test_a_status_that_says_stopped_stops_it(tmp_path: Path, go: Path) -> None:
    project = a_project(tmp_path, atom("A1", run=waits_for(go)), base_case="false")
    with held_up(project) as process:
        saved(project.state_file, replaced("status: running", "status: stopped"))
        assert process.wait(PATIENCE) == 7
    assert project.loop.control.stop_reason == "user: the file says so"


def test_an_atom_that_was_taken_out_does_not_come_back_with_a_stale_buffer(tmp_path: Path, go: Path) -> None:
    project = a_project(
        tmp_path, atom("A1", run=waits_for(go, "echo a > a")), atom("A2", run="sleep 9371"), base_case="test -f a"
    )
    with held_up(project) as process:
        stale = project.state_file.read_text()
        assert project.aot("redirect", "--remove", "A2").code == 0
        until(lambda: len(project.loop.atoms) == 1 and project.statuses()["A1"] == "in_progress")
        saved(project.state_file, lambda _: stale + "\nmy notes\n")
        until(lambda: warnings(project))
        go.touch()
        assert process.wait(PATIENCE) == 0
    assert project.statuses() == {"A1": "resolved"}
    assert project.state_file.read_text().endswith("my notes\n")


def test_comments_and_notes_survive_byte_for_byte(tmp_path: Path, go: Path) -> None:
    config = scripted(tmp_path, {ANYBODY: [done({"b": "b\n"})]})
    project = a_project(
        tmp_path, atom("A1", run=waits_for(go, "echo a > a")), atom("A2", "A1"), base_case="test -f b", config=config
    )
    notes = "\n# Notes\r\n\tstatus: pending \n---\n  trailing   \n\nünïcödé \u2028 end without a newline"
    with held_up(project) as process:
        text = project.state_file.read_text()
        head, _ = text.split("---\n\n# Notes", 1)
        head = head.replace("atoms:\n", "atoms:   # the work\n  # first\n", 1).replace("trail: []", "trail: []  # none")
        project.state_file.write_bytes((head + "---\n" + notes).encode())
        give_way(0.1)
        go.touch()
        assert process.wait(PATIENCE) == 0
    data = project.state_file.read_bytes().decode()
    assert data.endswith("---\n" + notes)
    assert "atoms:   # the work\n  # first\n" in data
    assert "trail: []  # none\n" in data
    assert leftovers(project) == []


# --- files that cannot be understood, or are not there -----------------------------------------------------------


@pytest.mark.parametrize("broken", ["", "---\nobjective: [\n", "\x00\x01", "---\natoms: 7\n---\n"])
def test_a_file_that_cannot_be_understood_is_waited_for(tmp_path: Path, go: Path, broken: str) -> None:
    times = tmp_path / "times"
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo x >> {times}; echo a > a"),
        atom("A2", "A1", run=waits_for(go, f"echo x >> {times}; echo b > b")),
        atom("A3", "A2", run="echo c > c"),
        base_case="test -f c",
    )
    with held_up(project, "A2") as process:
        good = project.state_file.read_text()
        saved(project.state_file, lambda _: broken)
        until(lambda: any("cannot be read; the run waits" in text for text in warnings(project)))
        go.touch()  # what is under way goes on, and ends
        until(lambda: times.read_text() == "x\nx\n")
        give_way(0.2)
        assert process.poll() is None
        assert project.state_file.read_text() == broken
        saved(project.state_file, lambda _: good)
        assert process.wait(PATIENCE) == 0
    assert times.read_text() == "x\nx\n"
    assert project.subjects() == ["A1: do A1", "A2: do A2", "A3: do A3"]
    assert leftovers(project) == []


def test_a_file_that_breaks_while_it_is_written_is_waited_for_too(tmp_path: Path) -> None:
    """What was conducted cannot be conducted again: its effects are kept until the file can be written."""
    path = write_loop(tmp_path, a_loop(atom("A1", run="true"), status="pending"))
    good = path.read_bytes()
    store = Store(str(path))
    run = Run(store.load())
    ledger = Ledger(store, run, Rules(objection=lambda _, __: None, at_once=lambda _, __: None))

    def breaks(_: Exchanged) -> reports.Report:
        path.write_bytes(b"---\n[")
        return reports.Began(at="2026-01-01T00:00:00Z", run_id="r1")

    with pytest.raises(StateFileInvalid):
        ledger.exchange([breaks])
    with pytest.raises(StateFileInvalid):
        ledger.exchange([])
    path.write_bytes(good)
    exchanged = ledger.exchange([])
    assert [type(one).__name__ for one in exchanged.effects] == ["VerifyBaseCase"]
    assert store.load().control.status == "running"
    assert ledger.exchange([]).effects == []


def test_a_file_that_is_deleted_ends_the_run_and_stays_deleted(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="sleep 9372"), base_case="false")
    with held_up(project) as process:
        mark = f"AOT_RUN_ID={project.loop.control.run_id}\0"
        until(lambda: processes_with(mark))
        project.state_file.unlink()
        assert process.wait(PATIENCE) == 3
        assert "there is no " in process.communicate()[1]
    assert not project.state_file.exists()
    assert processes_with(mark) == []
    assert project.worktrees() == []
    assert list(project.state_file.parent.iterdir()) == []


def test_an_editor_that_moves_the_file_away_before_it_writes_does_not_end_the_run(tmp_path: Path, go: Path) -> None:
    """As vim does: the file becomes a backup, then a new one is written."""
    project = a_project(tmp_path, atom("A1", run=waits_for(go, "echo a > a")), base_case="test -f a")
    with held_up(project) as process:
        text = project.state_file.read_text()
        backup = project.state_file.with_name("aot-loop-state.md~")
        project.state_file.rename(backup)
        give_way(0.1)  # a run waits a second for it
        project.state_file.write_text(text.replace('"do A1"', '"do A1 well"'))
        backup.unlink()
        until(lambda: corrections(project))
        go.touch()
        assert process.wait(PATIENCE) == 0
    assert project.atom("A1").description == "do A1 well"


# --- several at once ---------------------------------------------------------------------------------------------


def test_nothing_is_lost_when_many_change_the_file_at_once(tmp_path: Path) -> None:
    config, said = scripted(tmp_path, {ANYBODY: [done()]}), tmp_path / "said"
    project = a_project(
        tmp_path,
        *(atom(f"A{number}", run=f"sleep 0.1; echo {number} > f{number}") for number in range(1, 13)),
        atom(
            "last",
            *(f"A{number}" for number in range(1, 13)),
            run=waits_for(said, "echo x > last"),
        ),
        base_case="test -f last",
        config=config,
        constraints=Constraints(max_iterations=500),
    )
    with project.running() as process:
        until(lambda: "in_progress" in project.statuses().values())
        adders = [threading.Thread(target=_add, args=(project, name)) for name in ("one", "two")]
        writer = threading.Thread(target=_write_notes, args=(project.state_file,))
        for thread in (*adders, writer):
            thread.start()
        for thread in (*adders, writer):
            thread.join()
        said.touch()
        assert process.wait(PATIENCE) == 0
    added = [one for one in project.loop.atoms if one.description.startswith(("one", "two"))]
    assert sorted(one.description for one in added) == sorted(
        f"{name} {n}" for name in ("one", "two") for n in range(4)
    )
    assert set(project.statuses().values()) == {"resolved"}
    assert sorted(project.subjects()) == [*sorted(f"A{n}: do A{n}" for n in range(1, 13)), "last: do last"]
    text = project.state_file.read_text()
    assert [text.count(f"note {number}.") for number in range(10)] == [1] * 10
    assert leftovers(project) == []


def _add(project: Project, name: str) -> None:
    for number in range(4):
        assert project.aot("atom", "add", f"{name} {number}").code == 0


def _write_notes(path: Path) -> None:
    """An editor that saves by replacing, if nobody changed the file meanwhile."""
    draft = path.with_name("draft")
    for number in range(10):
        until(lambda number=number: _replaced(path, draft, f"note {number}.\n"))  # type: ignore[misc]
        give_way(0.05)


def _replaced(path: Path, draft: Path, added: str) -> bool:
    """The last look at it and the replacing are one: what an unlucky editor overwrites is another question."""
    text = path.read_text()
    draft.write_text(f"{text}{added}")
    with durable.locked(str(path)):
        if path.read_text() != text:
            return False
        draft.replace(path)
        return True
