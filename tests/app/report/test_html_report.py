"""The report is one file that needs nothing else, tells everything, hides secrets and does not grow without end."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from aotloop.app.report.html_report import html_report
from aotloop.core.model import AtomCheck
from aotloop.statefile.store import Store
from tests.loops import a_loop, as_file, atom
from tests.runner.projects import Project, a_project

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b]0;title\x07 \u202e ]]> </style></svg><b>"
SECRET = "hunter2-is-no-password"
VOID = {"meta"}


class Page(HTMLParser):
    """Fails on markup that a report never has; collects the rest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"script", "iframe", "object", "embed", "link", "base", "form", "img"}
        for name, value in attrs:
            assert not name.startswith("on"), name
            assert name not in {"src", "action"}, name
            assert name != "href" or str(value).startswith("#"), value
        self.tags.add(tag)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert attrs
        self.tags.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "".join(self.words)


@pytest.fixture
def hostile_run(tmp_path: Path) -> Project:
    """One atom lands, one fails; each prints a secret, and markup."""
    project = a_project(
        tmp_path,
        atom(
            "A1",
            description=f"first {HOSTILE}",
            run="echo '<script>x</script>' > 'a<b>.txt'; echo $DEPLOY_TOKEN >> 'a<b>.txt'",
            check=AtomCheck(type="command", value="cat a*; env | grep DEPLOY; true"),
        ),
        atom("A2", "A1", run="echo '<b>sorry</b>'; echo $DEPLOY_TOKEN; false"),
        base_case="echo evidence-of-the-base-case; false",
    )
    project.environ["DEPLOY_TOKEN"] = SECRET
    assert project.run("--max-total-attempts", "3").code != 0
    return project


def test_it_tells_all_and_has_no_foreign_markup_and_no_secret(
    hostile_run: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    text = html_report(Store(str(hostile_run.state_file))).text
    page = Page(text)
    assert "<script>alert(1)</script>" in page.text
    for told in ("A1#1", "A2#1", "sorry", "evidence-of-the-base-case", "a<b>.txt", "stopped", "merged as"):
        assert told in page.text, told
    assert SECRET not in text
    assert "[secret]" in page.text
    assert page.tags >= {"svg", "details", "table", "rect"}
    assert not any(ord(one) < 32 and one not in "\n\t" for one in text)
    monkeypatch.delenv("DEPLOY_TOKEN")
    (hostile_run.root / ".env.local").write_text(f"DEPLOY_TOKEN='{SECRET}'\n")
    assert SECRET not in html_report(Store(str(hostile_run.state_file))).text


def test_a_command_writes_it_and_next_offers_it(hostile_run: Project) -> None:
    out = hostile_run.root.parent / "out.html"
    done = hostile_run.aot("report", "-o", str(out))
    assert done.code == 0, done.err
    text = out.read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert SECRET not in text
    again = hostile_run.aot("run", "--yes")
    assert "aot report" in again.err
    assert hostile_run.aot("report", "-o", "-").out.startswith("<!DOCTYPE html>")
    assert hostile_run.aot("report").code == 0
    assert (hostile_run.root / ".aot" / "report.html").exists()
    refused = hostile_run.aot("report", "-o", "/dev/full")
    assert (refused.code, "Traceback" in refused.err) == (1, False)


def test_a_loop_that_has_not_begun_has_a_report(project: Path) -> None:
    path = project / ".claude" / "aot-loop-state.md"
    path.write_bytes(as_file(a_loop(atom("A1"), status="pending")))
    assert "not tried" in Page(html_report(Store(str(path))).text).text


def test_it_stays_small_and_says_what_it_left_out(project: Path) -> None:
    path = project / ".claude" / "aot-loop-state.md"
    path.write_bytes(as_file(a_loop(*(atom(f"A{n}", description=f"{n} {'word ' * 60}") for n in range(2500)))))
    report = html_report(Store(str(path)), 800_000)
    assert len(report.text.encode()) < 800_000
    assert report.left_out["atoms"] > 0
    assert f"{report.left_out['atoms']:,} atoms" in Page(report.text).text
