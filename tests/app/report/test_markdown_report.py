"""The text for a pull request is short, and nothing in it becomes markup, a mention or a reference."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from aotloop.app.report.foreign_text import ForeignText, Room
from aotloop.app.report.markdown_report import Markdown, markdown_report
from aotloop.core.model import BaseCase, Binding, Check, ChecklistItem, TrailEntry
from aotloop.statefile.store import Store
from aotloop.text.secrets import Secrets
from tests.loops import a_loop, as_file, atom

HOSTILE = "<img src=x> [a](http://x.org) ![b](c) @admin fixes #12 GH-3 `code` *strong* | # head https://x.org www.x.org"


def store_of(project: Path, count: int) -> Store:
    path = project / ".claude" / "aot-loop-state.md"
    base_case = BaseCase(checklist=(ChecklistItem(item=HOSTILE, check=Check(type="command", value="true")),))
    atoms = [atom(f"A{number}", description=HOSTILE, status="resolved") for number in range(count)]
    bindings = {one.id: Binding(summary=HOSTILE) for one in atoms}
    path.write_bytes(as_file(a_loop(*atoms, base_case=base_case, bindings=bindings)))
    return Store(str(path))


def test_foreign_text_is_text(project: Path) -> None:
    text = markdown_report(store_of(project, 1)).text
    found = {
        token.type for block in MarkdownIt("gfm-like", {"linkify": False}).parse(text) for token in block.children or ()
    }
    assert found <= {"text", "text_special", "strong_open", "strong_close", "softbreak"}
    assert not any(reference in text for reference in ("@admin", "#12", "GH-3", "://", "www.x"))
    assert "resolved" in text


def test_a_failure_is_told_with_what_it_printed_last(project: Path) -> None:
    """Seen: the line ended with "its last output:"."""
    path = project / ".claude" / "aot-loop-state.md"
    failure = TrailEntry(type="failure", atom="A1", reason="exit 1; its last output:\nno rule", timestamp="t")
    path.write_bytes(as_file(a_loop(atom("A1"), trail=[failure])))
    assert "exit 1; its last output: no rule" in markdown_report(Store(str(path))).text


def test_it_fits_into_a_pull_request(project: Path) -> None:
    report = markdown_report(store_of(project, 3000))
    assert len(report.text) < 65_000
    assert report.left_out["atoms"] > 1000
    assert f"{report.left_out['atoms']:,} atoms" in report.text


@pytest.mark.parametrize("ticks", ["```", "`````"])
def test_evidence_cannot_leave_its_fence(ticks: str) -> None:
    evidence = f"a\n{ticks}\n# b\n<b>c</b>"
    told = Markdown(ForeignText(Secrets()), Room(9999)).folded("x", evidence)
    (fence,) = [token for token in MarkdownIt("commonmark").parse(told) if token.type == "fence"]
    assert fence.content == f"{evidence}\n"


def test_the_head_of_evidence_is_text_in_html() -> None:
    """Seen: it was written as Markdown, and a backslash before a tag hides no tag there."""
    told = Markdown(ForeignText(Secrets()), Room(9999)).folded(f"✔ </summary></details>{HOSTILE}", "e")
    begin, *_, end = [token.content for token in MarkdownIt("commonmark").parse(told) if token.type == "html_block"]
    assert begin.startswith("<details><summary>✔ &lt;/summary&gt;&lt;/details&gt;&lt;img")
    assert (begin.count("<"), end.strip()) == (3, "</details>")
    assert not any(reference in told for reference in ("@admin", "#12", "GH-3", "://", "www.x", "\\"))
