"""Plans and reviews are read as people write them; what is unclear is not taken for an answer."""

from __future__ import annotations

import pytest

from aotloop.phases.evidence.documents import (
    Findings,
    Step,
    files_in,
    findings_in,
    names_files_and_steps,
    open_findings,
    steps_in,
)


def test_steps_with_what_they_need_and_alternatives() -> None:
    text = "- [ ] S1: one in `a.py`\n- [x] S2: done\n- [ ] S3: three (depends on S1, S2)\n"
    text += "- [ ] S4: or (alternative: Way)\n"
    assert steps_in(text) == (
        Step(label="S1", text="S1: one in `a.py`"),
        Step(label="S3", text="S3: three (depends on S1, S2)", needs=("S1",)),
        Step(label="S4", text="S4: or", choice="way"),
    )


def test_numbered_steps_follow_each_other() -> None:
    assert [step.needs for step in steps_in("1. first\n2. second\n3. third\n")] == [(), ("line 1",), ("line 2",)]


@pytest.mark.parametrize("text", ["", "prose", "- [ ] A1: x (depends on A2)\n- [ ] A2: y (depends on A1)", "- " * 200])
def test_what_has_no_steps(text: str) -> None:
    assert steps_in(text) == ()


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("change `src/a.py` and docs/b.md", ("src/a.py", "docs/b.md")),
        ("Makefile is none, `src/` is a folder", ("src/",)),
        ("version 2.0 of it, i.e. nothing.", ()),
        (".github/workflows/ci.yml, .gitignore", (".github/workflows/ci.yml",)),
        ("see https://example.com/a.html", ()),
    ],
)
def test_names_of_files(text: str, files: tuple[str, ...]) -> None:
    assert files_in(text) == files


def test_a_plan_names_both() -> None:
    assert names_files_and_steps("- write `a.py`\n")
    assert not names_files_and_steps("- write it\n")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("No findings.\n", Findings()),
        ("# Review\n\n**No open findings**\n\nI looked at everything.", Findings()),
        (
            "- [ ] a\n- [x] b\n- [X] c (accepted: rare)\n",
            Findings(open=("a",), resolved=("b",), accepted=("c (accepted: rare)",)),
        ),
        ("* [~] half done\n", Findings(open=("half done",))),
        ("1. severe\n   - [ ] inner\n", Findings(open=("inner",))),
        ("- [x] c (accepted:)\n", Findings(resolved=("c (accepted:)",))),
    ],
)
def test_findings(text: str, found: Findings) -> None:
    assert findings_in(text) == found


@pytest.mark.parametrize("text", ["", "LGTM", "- a list without boxes", "There were no findings to speak of, but…"])
def test_what_does_not_say_what_was_found(text: str) -> None:
    assert findings_in(text) is None


def test_a_finding_that_is_gone_is_open() -> None:
    before = "- [ ] the lock is not released\n- [ ] a typo\n"
    assert open_findings("- [x] a typo, mended\n", [before]) == ("the lock is not released",)
    assert open_findings("No findings.", [before]) == ("the lock is not released", "a typo")
    assert open_findings("- [x] The lock  is not released\n- [x] a typo (accepted: it is a name)", [before]) == ()
    assert open_findings("fine", [before]) is None
