"""What was agreed on is written whole or not at all, and remembered as agreed on before the file says it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.app.align.agreed_file import Accept, loop_in, write
from aotloop.app.align.draft import Draft, DraftAtom, draft_of, over
from aotloop.core.model import Loop
from aotloop.errors import StateFileBusy, StateFileInvalid, Unavailable
from aotloop.statefile.lease import lease
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import is_trusted
from aotloop.trust.objectives import agreed
from tests.app.align.test_draft import AGREED
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop

WORK = Draft(atoms=(DraftAtom(description="one", run="make"), DraftAtom(description="two", depends_on=("A1",))))


def accepting(accepted: list[list[str]]) -> Accept:
    return accepted.append


@pytest.fixture
def store(project: Path) -> Store:
    return Store(str(project / ".claude" / "aot-loop-state.md"))


def test_a_new_file_is_a_valid_loop_that_is_agreed_on(store: Store) -> None:
    accepted: list[list[str]] = []
    written = write(store, over(AGREED, WORK), before=None, request="Please.", accept=accepting(accepted))
    assert (written.is_new, written.atoms) == (True, ("A1", "A2"))
    examination = store.examine()
    assert examination.findings == ()
    assert examination.loop is not None
    assert examination.loop.control.status == "pending"
    assert accepted == [["true", "make"]]
    assert agreed(store.path) == examination.loop.objective
    assert Path(store.path).read_text().endswith("---\n\n# Original Prompt\n\nPlease.\n")


def test_without_words_the_goal_is_the_request(store: Store) -> None:
    write(store, AGREED, before=None, request="", accept=accepting([]))
    assert Path(store.path).read_text().endswith("# Original Prompt\n\nIt works\n")


def test_what_is_not_enough_is_not_written(store: Store) -> None:
    accepted: list[list[str]] = []
    with pytest.raises(StateFileInvalid, match=r"missing: objective\.base_case, objective\.deliverables") as caught:
        write(
            store,
            replace(AGREED, base_case=None, deliverables=" "),
            before=None,
            request="",
            accept=accepting(accepted),
        )
    assert caught.value.exit_code == 3
    assert not Path(store.path).exists()
    assert (accepted, agreed(store.path)) == ([], None)


def test_what_was_accepted_is_kept_before_the_file_says_it(store: Store) -> None:
    """The process is killed between the two steps; the file is never there without the agreement."""
    killed = _killed_in_the_middle(store)
    assert killed.returncode == -signal.SIGKILL
    assert not Path(store.path).exists()
    kept = agreed(store.path)
    assert kept is not None
    assert is_trusted(store.path, ["true", "make"])
    write(store, over(AGREED, WORK), before=loop_in(store), request="Please.", accept=accepting([]))
    assert store.load().objective == kept == agreed(store.path)


def _killed_in_the_middle(store: Store) -> subprocess.CompletedProcess[bytes]:
    """The lock is held by then, and what was accepted is on disk; the file would be written next."""
    program = """
import os, signal, sys
from functools import partial
from aotloop.app.align.agreed_file import write
from aotloop.app.align.draft import over
from aotloop.statefile import durable
from aotloop.statefile.store import Store
from aotloop.trust import trust
from tests.app.align.test_agreed_file import WORK
from tests.app.align.test_draft import AGREED

durable.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
write(Store(sys.argv[1]), over(AGREED, WORK), before=None, request="", accept=partial(trust, sys.argv[1]))
"""
    command = [sys.executable, "-c", program, store.path]
    return subprocess.run(command, cwd=Path(__file__).parents[3], check=False, capture_output=True)


def test_a_file_that_cannot_be_written_is_not_agreed_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aotloop.statefile.durable.replace", _refuse)
    with pytest.raises(Unavailable, match="no space"):
        write(store, AGREED, before=None, request="", accept=accepting([]))
    assert (Path(store.path).exists(), agreed(store.path)) == (False, None)


def _refuse(*_: object) -> None:
    raise Unavailable("no space is left")


def test_whoever_was_faster_keeps_file_and_agreement(store: Store) -> None:
    write(store, AGREED, before=None, request="", accept=accepting([]))
    first, accepted = agreed(store.path), list[list[str]]()
    with pytest.raises(Unavailable, match="exists already"):
        write(store, replace(AGREED, goal="Another"), before=None, request="", accept=accepting(accepted))
    assert (agreed(store.path), accepted) == (first, [])
    assert store.load().objective == first


# --- again -------------------------------------------------------------------------------------------------------


@pytest.fixture
def loop() -> Loop:
    loop = a_loop(
        atom("A1", status="resolved"),
        atom("A2", "A1", status="resolved"),
        atom("A3"),
        status="stopped",
        command="false",
    )
    loop.control = replace(loop.control, iteration=3, stop_reason="limit: time", run_id="r", cost_usd=3.0)
    return loop


def test_a_loop_is_aligned_again_and_keeps_what_stays(project: Path, loop: Loop) -> None:
    path = write_loop(project, loop)
    store = Store(str(path))
    draft = draft_of(loop)
    changed = replace(draft, goal="Other", atoms=(draft.atoms[0], replace(draft.atoms[1], description="other")))
    accepted: list[list[str]] = []
    written = write(store, changed, before=loop, request="ignored", accept=accepting(accepted))
    assert (written.is_new, written.kept, written.undone, written.atoms) == (False, ("A1",), ("A2",), ("A1", "A2"))
    now = store.load()
    assert (now.control.status, now.control.iteration, now.control.run_id) == ("pending", 0, None)
    assert [(one.type, one.description) for one in now.corrections] == [("objective_change", "aligned again: Other")]
    assert set(now.bindings) == {"A1"}
    assert path.read_text().endswith("# Original Prompt\n\nPlease.\n")
    assert accepted == [["false"]]
    assert agreed(str(path)) == now.objective


def test_what_it_says_already_changes_nothing(project: Path, loop: Loop) -> None:
    loop.control = a_loop(status="pending").control
    path = write_loop(project, loop)
    before = path.read_bytes()
    written = write(Store(str(path)), draft_of(loop), before=loop, request="", accept=accepting([]))
    assert not written.is_changed
    assert path.read_bytes() == before


def test_a_refused_one_leaves_the_file_as_it_was(project: Path, loop: Loop) -> None:
    path = write_loop(project, loop)
    before = path.read_bytes()
    bad = over(draft_of(loop), Draft(atoms=(DraftAtom(id="A1", description="x", depends_on=("A1",)),)))
    with pytest.raises(StateFileInvalid, match="cycle"):
        write(Store(str(path)), bad, before=loop, request="", accept=accepting([]))
    assert path.read_bytes() == before
    assert agreed(str(path)) is None


def test_while_somebody_runs_it_it_is_not_aligned(project: Path, loop: Loop) -> None:
    path = write_loop(project, loop)
    before = path.read_bytes()
    with held_by_another(path):
        for action in (
            lambda: loop_in(Store(str(path))),
            lambda: write(Store(str(path)), draft_of(loop), before=loop, request="", accept=accepting([])),
        ):
            with pytest.raises(StateFileBusy) as caught:
                action()
            assert "aot redirect" in (caught.value.hint or "")
    with lease(str(path), "redirect"), pytest.raises(StateFileBusy, match="changing the direction"):
        write(Store(str(path)), draft_of(loop), before=loop, request="", accept=accepting([]))
    assert path.read_bytes() == before


def test_what_somebody_else_changed_meanwhile_is_not_lost(project: Path, loop: Loop) -> None:
    path = write_loop(project, loop)
    Store(str(path)).update(lambda now: now.atoms.append(atom("A9")))
    before = path.read_bytes()
    with pytest.raises(StateFileBusy, match="was changed meanwhile"):
        write(Store(str(path)), draft_of(loop), before=loop, request="", accept=accepting([]))
    assert path.read_bytes() == before
    with pytest.raises(Unavailable, match="exists already"):
        write(Store(str(path)), draft_of(loop), before=None, request="", accept=accepting([]))
    assert path.read_bytes() == before


def test_nothing_to_align_again_where_there_is_no_file(store: Store) -> None:
    assert loop_in(store) is None
