"""What a person or a terminal ends is over at once, all of it; and what they let go on goes on."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.app.ship.features import ENOUGH, a_feature, at, orders
from tests.cli.ship.test_approval import begun, hanging
from tests.patience import PATIENCE, until


def test_a_feature_that_is_given_up_takes_the_loop_of_its_work_along(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(A1=[hanging(tmp_path)]))
    at(feature, "work")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        cancelled = feature.aot("ship", "cancel", "not needed")
        assert cancelled.code == 0, cancelled.err
        assert run.wait(PATIENCE) == 7
    assert (feature.loop.status, feature.loop.stop_reason) == ("cancelled", "user: not needed")
    assert feature.leftovers() == []


def test_it_outlives_its_terminal_if_it_was_told_to(tmp_path: Path) -> None:
    waiting = {**ENOUGH[0], "touch": str(tmp_path / "begun"), "after": str(tmp_path / "go")}
    feature = a_feature(tmp_path, orders(plan=[waiting]))
    at(feature, "plan", max_iterations=1)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # what it is started with
    try:
        with feature.shipping() as run:
            until(lambda: begun(feature))
            run.send_signal(signal.SIGHUP)
            (tmp_path / "go").touch()
            assert run.wait(PATIENCE) == 5
    finally:
        signal.signal(signal.SIGHUP, before)


def test_ctrl_c_ends_it_though_somebody_has_spoilt_the_file(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=[hanging(tmp_path)]))
    at(feature, "plan")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        feature.file.write_text("{")
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 3
    assert "Traceback" not in err
    assert "not readable as JSON" in err
    assert feature.file.read_text() == "{"
    assert feature.leftovers() == []


def test_nothing_is_cleaned_up_under_somebody_who_ships_and_all_of_it_after_a_crash(tmp_path: Path) -> None:
    feature = a_feature(tmp_path, orders(plan=[hanging(tmp_path)]))
    at(feature, "plan")
    with feature.shipping() as run:
        until(lambda: begun(feature))
        cleaned = feature.aot("clean", "--journals")
        assert (cleaned.code, (feature.root / ".aot").is_dir()) == (1, True), cleaned.out
        assert "runs this loop" in cleaned.err
        run.kill()
        run.wait()
    assert feature.aot("clean", "--journals").code == 0
    assert not (feature.root / ".aot").exists()
    assert feature.leftovers() == []
