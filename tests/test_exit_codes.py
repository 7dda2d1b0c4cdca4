"""Exit codes stand in one table; commands, help and pages say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aotloop import exit_codes
from aotloop.exit_codes import MEANINGS, OF_REASONS, REMEDIES, code_of, help_table

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        (None, 0),
        ("stalled: nothing got smaller", 4),
        ("exhausted: nothing is left", 4),
        ("limit: iterations", 5),
        ("blocked: by edits", 6),
        ("user: enough", 7),
        ("error: disk", 1),
        ("something else", 1),
        ("", 1),
    ],
)
def test_the_first_word_of_a_reason_decides(reason: str | None, code: int) -> None:
    assert code_of(reason) == code


def test_every_code_that_is_used_has_a_meaning() -> None:
    assert set(OF_REASONS.values()) | set(REMEDIES) <= set(MEANINGS)
    assert (exit_codes.INTERRUPTED, exit_codes.PIPE_CLOSED, exit_codes.TERMINATED) == (130, 141, 143)


def test_the_help_of_a_command_has_the_codes_in_columns() -> None:
    assert help_table("shipped").splitlines()[2:] == [
        "  0 shipped                3 not ready, or the file is invalid    5 a limit was reached",
        "  1 an error               4 stalled or exhausted                 6 a person is needed",
        "  7 stopped by a person    130 interrupted",
    ]
    assert help_table("shipped", {8: "shipped, with gaps"}).splitlines()[-1].endswith(" 8 shipped, with gaps")


def test_the_page_of_errors_tells_of_all_codes_and_no_others() -> None:
    text = (ROOT / "docs" / "errors.md").read_text("utf-8")
    section = text[text.index("## Exit codes") :].partition("\n## ")[0]
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}
    assert told == set(MEANINGS)


@pytest.mark.parametrize("page", ["running.md", "shipping.md"])
def test_other_pages_point_to_it(page: str) -> None:
    assert "errors.md#exit-codes" in (ROOT / "docs" / page).read_text("utf-8")


def test_no_module_has_numbers_of_its_own() -> None:
    own = re.compile(r"exit_code=[1-9]|exit_code = [1-9]|\bNOT_READY\b.*= \d|ctx\.exit\([2-9]")
    sources = ROOT / "src" / "aotloop"
    found = [path.name for path in sources.rglob("*.py") if own.search(path.read_text("utf-8"))]
    assert found == []
