"""The report of a feature tells its phases, receipts, tests, findings and failures, hides secrets and stays small."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from markdown_it import MarkdownIt

from aotloop.app.report.feature_report import feature_markdown, feature_report
from aotloop.app.ship.feature_access import project_of
from aotloop.core.phases.model import PhaseLoop
from tests.app.report.test_html_report import Page
from tests.app.ship.features import PLAN_FILE, TEST_FILE, TESTS, a_feature, at
from tests.web.hostile_values import hostile

SECRET = "hunter2-is-no-password"


def test_it_tells_phases_receipts_tests_and_findings(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "fix", review="- [ ] a <b>leak</b>\n- [x] a typo\n")
    project = project_of(str(feature.file))
    page = Page(feature_report(project).text)
    sha = next(one.git_sha for one in feature.loop.receipts if one.phase == "plan")
    for told in ("a feature", f"{PLAN_FILE} at {sha[:10]}", TESTS.strip(), TEST_FILE, "✘ a <b>leak</b>", "✔ a typo"):
        assert told in page.text, told
    text = feature_markdown(project).text
    assert "**spec test** (done, tests/acceptance/feature\\_test.sh at " in text
    assert "- ✘ a \\<b\\>leak\\</b\\>" in text


@pytest.fixture
def hostile_feature(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every text of it is markup, and holds a secret."""
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    made = hostile(PhaseLoop, version=2, phase="work", status="stopped", session_id=None)
    text = msgspec.json.encode(made).replace(b"<img", f"{SECRET}<img".encode())
    path = project / ".claude" / "autonomous-loop.json"
    path.write_bytes(text)
    return path


def test_foreign_text_is_text_and_no_secret_is_told(hostile_feature: Path) -> None:
    project = project_of(str(hostile_feature))
    text = feature_report(project).text
    assert "<script>alert" in Page(text).text
    assert SECRET not in text
    told = feature_markdown(project).text
    assert SECRET not in told
    kinds = {
        token.type for block in MarkdownIt("gfm-like", {"linkify": False}).parse(told) for token in block.children or ()
    }
    assert kinds <= {"text", "text_special", "strong_open", "strong_close", "softbreak"}


def test_it_stays_small_and_says_what_it_left_out(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "plan")
    line = '{"kind":"warning","at":"2026-01-01T00:00:00Z","text":"%s"}\n' % ("word " * 200)
    (feature.root / ".aot").mkdir(exist_ok=True)
    (feature.root / ".aot" / "events.jsonl").write_text(line * 2000)
    report = feature_report(project_of(str(feature.file)), 600_000)
    assert len(report.text.encode()) < 600_000
    assert report.left_out["entries"] > 100
    assert f"{report.left_out['entries']:,} entries" in report.text


def test_the_command_finds_the_feature_where_there_is_no_loop(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "plan")
    done = feature.aot("report")
    assert done.code == 0, done.err
    assert "a feature" in Page((feature.root / ".aot" / "report.html").read_text()).text
    assert feature.aot("report", "--feature", "--markdown").out.startswith("## a feature\n")
