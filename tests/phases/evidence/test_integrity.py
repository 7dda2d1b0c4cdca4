"""What git can be talked into does not count: names that move, objects that stand for others, overlooked files."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.app.ship.feature_start import FeatureOptions, begin_feature
from aotloop.clock import now
from aotloop.core.phases.events import ErrorMet, LoopCancelled
from aotloop.errors import AotError, Unavailable
from aotloop.phases.evidence.acceptance import allow, run_acceptance
from aotloop.phases.failure_log import note_failed
from aotloop.phases.project import Project
from aotloop.phases.receipts import make_promise, tell
from aotloop.statefile.phases.phase_store import PhaseStore
from tests.phases.features import CONTENT, REVIEW, TESTS, Feature, a_feature


@pytest.fixture
def feature(tmp_path: Path) -> Feature:
    return a_feature(tmp_path, skip_test_review=True)


def test_a_branch_that_is_named_like_a_sha_is_none(feature: Feature) -> None:
    feature.walk_to("spec_test")
    feature.commit(CONTENT["spec_test"])
    feature.git("branch", "facade1")
    assert any("is not part of what is checked out" in one for one in feature.file(sha="facade1").reasons)


def test_what_is_kept_of_a_commit_is_its_whole_name(feature: Feature) -> None:
    feature.walk_to("spec_test")
    sha = feature.commit(CONTENT["spec_test"])
    assert feature.file(sha=sha[:7]).is_accepted
    assert feature.loop.receipts[-1].git_sha == sha
    feature.commit({TESTS: "true\n"})
    feature.git("branch", sha[:7])
    assert any("were changed" in one for one in feature.do().reasons)


def test_an_object_that_stands_for_another_is_not_looked_at(feature: Feature) -> None:
    feature.walk_to("deepen")
    agreed = feature.loop.receipts[-1].git_sha
    feature.git("replace", agreed, feature.commit({TESTS: "true\n"}))
    assert any("were changed" in one for one in feature.do().reasons)


def test_red_are_the_tests_that_are_committed(feature: Feature) -> None:
    feature.walk_to("spec_test")
    feature.commit({TESTS: "true\n"})
    feature.write(**{TESTS: "false\n"})
    assert not feature.file(TESTS).is_accepted
    assert feature.loop.phase == "spec_test"


def test_what_was_tested_is_what_was_checked_out_all_the_time(feature: Feature) -> None:
    feature.walk_to("spec_test")
    moves = "[ -f moves ] && git -c user.name=T -c user.email=t@x commit -q --allow-empty -m later\n[ -f greet.sh ]\n"
    feature.do({TESTS: moves})
    feature.walk_to("work")
    feature.commit({"greet.sh": "echo hello\n", "moves": "yes\n"})
    feature.ground = Project(feature.ground.store, fence=None)  # a fence keeps tests from git
    filed = feature.file("greet.sh")
    assert filed.run is not None
    assert filed.run.passed is None
    assert any("changed while they ran" in one for one in filed.reasons)
    assert feature.loop.tests_verdict is None or not feature.loop.tests_verdict.passed


@pytest.mark.parametrize("overlooked", ["--assume-unchanged", "--skip-worktree"])
def test_uncommitted_work_that_git_is_told_to_overlook_is_not_tested(feature: Feature, overlooked: str) -> None:
    feature.walk_to("work")
    feature.commit({"greet.sh": "echo bye\n"})
    feature.git("update-index", overlooked, "greet.sh")
    assert any("do not pass" in one for one in feature.file("greet.sh").reasons)
    feature.write(**{"greet.sh": "echo hello\n"})
    assert any("not committed: greet.sh" in one for one in feature.file("greet.sh").reasons)


def test_files_that_are_not_checked_out_are_not_missed(feature: Feature) -> None:
    feature.walk_to("work")
    feature.git("sparse-checkout", "set", "--no-cone", "/*", "!/README.md")
    assert not (feature.root / "README.md").exists()
    assert feature.do().is_accepted


def test_the_same_commit_does_not_prove_two_rounds(feature: Feature) -> None:
    feature.walk_to("review")
    feature.do({REVIEW: "- [ ] `greet.sh`: one\n"})
    first = feature.do({"greet.sh": "printf 'hello\\n'\n"}).loop
    feature.do({REVIEW: "- [ ] `greet.sh`: one\n\nStill.\n"})
    assert feature.loop.phase == "fix"
    sha = next(one.git_sha for one in first.receipts if one.phase == "fix")
    assert any("older than this phase" in one for one in feature.file("greet.sh", sha=sha).reasons)


def test_a_finding_does_not_vanish_in_two_rounds_either(feature: Feature) -> None:
    feature.walk_to("review")
    feature.do({REVIEW: "- [ ] `greet.sh`: one\n"})
    rounds = ("- [x] `greet.sh`: one\n- [ ] `greet.sh`: two\n", "- [x] `greet.sh`: one\n", "- [x] `greet.sh`: one\n\n")
    for number, text in enumerate(rounds):
        feature.do({"greet.sh": f"echo hello # {number}\n"})
        filed = feature.do({REVIEW: text})
    assert filed.loop.fix_review_cycles == 3
    assert "1 findings are open after 3 of 3 rounds of fixing" in (filed.loop.stop_reason or "")


@pytest.mark.parametrize(
    ("started", "counts"),
    [("2026-01-01T10:00:00+02:00", True), ("2026-01-01T07:00:00-05:00", False), ("2026-01-01T08:59:59.500Z", True)],
)
def test_times_are_read_with_their_zone(feature: Feature, started: str, counts: bool) -> None:
    path = Path(feature.ground.store.path)
    loop = feature.loop
    path.write_text(path.read_text().replace(str(loop.phase_started_at), started))
    feature.write(**CONTENT["brainstorm"])
    feature.git("add", "-A", "docs")
    os.environ["GIT_COMMITTER_DATE"] = "2026-01-01T09:00:00Z"
    try:
        feature.commit({})
    finally:
        del os.environ["GIT_COMMITTER_DATE"]
    assert feature.file().is_accepted is counts


@pytest.mark.parametrize("url", ["https://[x", "http://example.org/1", "nonsense"])
def test_an_address_that_is_none_leaves_the_branch(feature: Feature, url: str) -> None:
    feature.walk_to("ship")
    assert feature.do(pr_url=url).is_accepted
    assert make_promise(feature.ground, "SHIPPED").loop.status == "completed"


def test_what_is_recorded_of_a_claim_is_nothing_that_a_terminal_would_obey(feature: Feature) -> None:
    feature.file("docs/\x1b]0;owned\x07.md", sha="\x1b[2J")
    assert all(error.message.isprintable() for error in feature.loop.errors)


def test_the_log_of_failures_is_only_ever_added_to(feature: Feature) -> None:
    log = feature.root / "docs" / "progress.md"
    note_failed(feature.root, "docs/progress.md", [("work", "one")])
    node = log.stat().st_ino
    log.write_bytes(log.read_bytes().rstrip(b"\n"))
    note_failed(feature.root, "docs/progress.md", [("work", "one"), ("fix", "two")])
    assert log.read_text().endswith("again.\n\n- work: one\n- fix: two\n")
    assert log.stat().st_ino == node
    os.mkfifo(feature.root / "pipe")
    with pytest.raises(Unavailable):
        note_failed(feature.root, "pipe", [("work", "one")])


@pytest.mark.parametrize("file", ["../out.md", "/{tmp}/out.md", "link/out.md", ".git/config"])
def test_the_log_of_failures_is_a_file_of_the_project(feature: Feature, tmp_path: Path, file: str) -> None:
    (feature.root / "link").symlink_to(tmp_path)
    with pytest.raises(Unavailable):
        note_failed(feature.root, file.format(tmp=tmp_path), [("work", "this")])
    assert not (tmp_path / "out.md").exists()


def test_of_two_that_begin_at_once_in_the_place_of_one_that_is_over_one_begins(
    feature: Feature, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(feature.ground, LoopCancelled(at=now(), reason="enough"))
    store = PhaseStore(feature.ground.store.path)
    load = store.load
    other = FeatureOptions(feature="the other")

    def loaded() -> object:
        found = load()
        monkeypatch.setattr(store, "load", load)
        begin_feature(PhaseStore(store.path), other)
        return found

    monkeypatch.setattr(store, "load", loaded)
    with pytest.raises(AotError):
        begin_feature(store, FeatureOptions(feature="mine"))
    assert feature.loop.feature == "the other"


@pytest.mark.parametrize(("said", "kept"), [("  DONE \n", "DONE"), ("x" * 501, None), ("a</promise>b", None)])
def test_a_promise_is_one_that_can_be_made(feature: Feature, said: str, kept: str | None) -> None:
    tell(feature.ground, LoopCancelled(at=now(), reason="enough"))
    wanted = FeatureOptions(feature="another", completion_promise=said)
    if kept is None:
        with pytest.raises(AotError, match="promise"):
            begin_feature(feature.ground.store, wanted)
    else:
        assert begin_feature(feature.ground.store, wanted).completion_promise == kept


def test_a_file_never_grows_beyond_what_can_be_read(feature: Feature) -> None:
    with pytest.raises(Unavailable, match="too large"):
        tell(feature.ground, ErrorMet(at=now(), message="x" * (17 << 20)))
    assert feature.loop.errors == ()


def test_what_python_kept_of_other_tests_is_not_run(feature: Feature) -> None:
    file = "tests/acceptance/a_test.py"
    feature.write(
        **{file: "def test_a(): assert 0\n", ".venv/bin/python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'}
    )
    (feature.root / ".venv/bin/python").chmod(0o755)
    feature.write(**{".venv/lib/python3/site-packages/pytest/__init__.py": ""})
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", file]
    keeping = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(words, cwd=feature.root, check=False, capture_output=True, env=keeping)
    (kept,) = (feature.root / "tests/acceptance/__pycache__").glob("a_test.*.pyc")
    forged = marshal.dumps(compile("def test_a(): pass\n", str(feature.root / file), "exec"))
    kept.write_bytes(kept.read_bytes()[:16] + forged)
    believed = subprocess.run(words, cwd=feature.root, check=False, capture_output=True)
    assert believed.returncode == 0
    assert run_acceptance(feature.ground, "spec_test", file, allow).passed is False
