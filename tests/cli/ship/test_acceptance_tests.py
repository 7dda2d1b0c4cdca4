"""Acceptance tests are run only after this user has agreed to how, whichever command has them run."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.core.phases.model import Phase
from aotloop.phases.receipts import file_receipt
from tests.app.ship.features import TEST_FILE, TESTS, a_feature, at


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("spec_test", ["approve"]),
        ("work", ["receipt", "feature.txt"]),
        ("test", ["advance", "--reason", "x"]),
    ],
    ids=["approve", "receipt", "advance"],
)
def test_nobody_has_tests_run_that_a_repository_brings_along(tmp_path: Path, phase: Phase, words: list[str]) -> None:
    feature = a_feature(tmp_path)
    ground = at(feature, phase, skip_test_review=phase != "spec_test")
    if phase == "spec_test":
        sha = feature.commit({TEST_FILE: TESTS})
        file_receipt(ground, artifact=TEST_FILE, sha=sha)
    feature.commit({"aot.toml": f'[ship]\ntest_command = "touch {tmp_path}/was-run; sh"\n', "feature.txt": "x\n"})
    ran = feature.aot("ship", *words)
    assert ran.code == 1
    assert "have not been accepted yet" in ran.err
    assert f"touch {tmp_path}/was-run; sh FILE" in ran.err
    assert not (tmp_path / "was-run").exists()
    feature.aot("ship", *words, "--yes")
    assert (tmp_path / "was-run").exists()


def test_nor_is_it_found_out_before_how_they_would_be_run(tmp_path: Path) -> None:
    """Whether there is a pytest is known by asking for it, and a repository can bring one along."""
    feature = a_feature(tmp_path)
    ground = at(feature, "spec_test", skip_test_review=False)
    tests = "tests/acceptance/feature_test.py"
    sha = feature.commit({tests: "def test_it():\n    assert False\n"})
    file_receipt(ground, artifact=tests, sha=sha)
    feature.commit({"pytest.py": f"open('{tmp_path}/was-run', 'w')\n"})
    assert feature.aot("ship", "approve").code == 1
    assert not (tmp_path / "was-run").exists()
