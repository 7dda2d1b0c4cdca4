"""In a session nothing is completed on another objective, or with other protected files, than were agreed on."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.app.preflight.agreement import broken_agreement, remember_agreement
from aotloop.statefile.store import Store
from aotloop.trust import trust
from tests.git.checkouts import make_checkout
from tests.loops import a_loop, atom, write_loop
from tests.scripts.calling import call

COMMAND = "sh tests/t.sh"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_checkout(tmp_path / "project")
    monkeypatch.chdir(folder)
    (folder / "tests").mkdir()
    (folder / "tests" / "t.sh").write_text("exit 1\n")
    (folder / ".claude").mkdir(exist_ok=True)
    loop = a_loop(atom("A1", status="in_progress"), command=COMMAND, status="running")
    loop.objective = replace(loop.objective, protect=("tests/**",))
    made = write_loop(folder, loop)
    for commands in ([COMMAND], ["true"]):
        trust(str(made), commands)
    store = Store(str(made))
    remember_agreement(store, store.load().objective)
    return made


def refused(words: str) -> None:
    for script in (
        ("verify_checklist",),
        ("set_status", "completed"),
        ("integrate", "A1", "--in-place", "--summary", "s"),
    ):
        told = call(*script, code=1)
        assert words in told["error"], (script, told)


def test_a_weakened_objective_completes_nothing(path: Path) -> None:
    path.write_text(path.read_text().replace(COMMAND, "true"))
    refused("behind the loop's back")
    assert Store(str(path)).load().control.status == "running"


@pytest.mark.parametrize("kind", ["overwritten", "removed", "linked", "added"])
def test_a_protected_file_that_was_overwritten_completes_nothing(path: Path, kind: str) -> None:
    file = path.parents[1] / "tests" / "t.sh"
    if kind == "added":
        file = file.with_name("conftest.py")
    elif kind != "overwritten":
        file.unlink()
    if kind == "linked":
        file.symlink_to("/bin/true")
    elif kind != "removed":
        file.write_text("exit 0\n")
    refused("protected files were changed")


def test_what_is_as_agreed_is_not_in_the_way(path: Path) -> None:
    store = Store(str(path))
    assert broken_agreement(store, store.load()) is None
    assert call("verify_checklist", code=1)["passed"] is False
