"""One feature at a time; nothing that was there is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.app.ship.feature_start import FeatureOptions, begin_feature
from aotloop.clock import now
from aotloop.core.phases.events import LoopCancelled
from aotloop.errors import AotError, StateFileInvalid
from aotloop.phases.failure_log import USUAL, note_failed
from aotloop.phases.receipts import tell
from aotloop.statefile.locate import PHASE_FILE
from aotloop.statefile.phases.phase_store import PhaseStore
from tests.phases.features import a_feature


def test_what_was_said_is_in_the_file_and_the_rest_at_its_default(tmp_path: Path) -> None:
    wanted = {
        "skip_brainstorm": True,
        "max_fix_cycles": 1,
        "budget_limit_usd": 3.5,
        "completion_promise": "DONE",
        "no_graph": True,
    }
    loop = a_feature(tmp_path, **wanted).loop
    assert (loop.phase, loop.max_fix_cycles, loop.budget_limit_usd, loop.completion_promise) == ("plan", 1, 3.5, "DONE")
    assert (loop.max_iterations, loop.max_phase_iterations, loop.status, loop.artifacts.progress_file) == (
        50,
        10,
        "running",
        USUAL,
    )


def test_a_feature_under_way_is_not_replaced(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    before = Path(feature.ground.store.path).read_bytes()
    with pytest.raises(AotError, match="another feature is in progress here: say hello") as refused:
        begin_feature(feature.ground.store, FeatureOptions(feature="say goodbye"))
    assert (refused.value.exit_code, Path(feature.ground.store.path).read_bytes()) == (3, before)


def test_one_that_is_over_is_kept_aside(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    tell(feature.ground, LoopCancelled(at=now(), reason="user: no"))
    before = Path(feature.ground.store.path).read_bytes()
    assert begin_feature(feature.ground.store, FeatureOptions(feature="say goodbye")).feature == "say goodbye"
    (kept,) = (feature.root / ".aot" / "shipped").iterdir()
    assert kept.read_bytes() == before
    assert kept.name.endswith("-say-hello.json")
    assert feature.git("status", "--porcelain") == ""


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"version": 7}', b"\xff\xfe"])
def test_a_file_that_cannot_be_understood_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / PHASE_FILE
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StateFileInvalid):
        begin_feature(PhaseStore(str(path)), FeatureOptions(feature="x"))
    assert path.read_bytes() == content


@pytest.mark.parametrize("feature", ["", "  \n"])
def test_a_feature_without_words(tmp_path: Path, feature: str) -> None:
    with pytest.raises(StateFileInvalid, match="feature"):
        a_feature(tmp_path, feature=feature)
    assert not (tmp_path / "feature" / PHASE_FILE).exists()


# --- the log of failed approaches --------------------------------------------------------------------------------


def test_failed_approaches_are_appended_once(tmp_path: Path) -> None:
    assert note_failed(tmp_path, USUAL, [("work", "a cache\nwithout a limit"), ("work", " ")])
    assert not note_failed(tmp_path, USUAL, [("work", "a cache without a limit")])
    assert note_failed(tmp_path, USUAL, [("fix", "a lock"), ("work", "a cache without a limit")])
    lines = (tmp_path / USUAL).read_text().splitlines()
    assert [line for line in lines if line.startswith("- ")] == ["- work: a cache without a limit", "- fix: a lock"]


def test_what_others_wrote_there_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_bytes(b"# Mine \xff\r\nno end of line")
    assert note_failed(tmp_path, "notes.md", [("work", "x")])
    assert (tmp_path / "notes.md").read_bytes().startswith(b"# Mine \xff\r\nno end of line\n- work: x\n")
