"""docs/security.md promises nothing without a test: each that it names is there, and each row names one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTE = (ROOT / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", NOTE)))


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda one: one)
def test_each_test_that_is_named_is_there(file: str, test: str) -> None:
    assert re.search(rf"^ *(async )?def {test}\(", (ROOT / file).read_text(), re.MULTILINE)


def test_each_sentence_has_a_test() -> None:
    tables = re.findall(r"^\| what holds \| shown by \|\n\| --- \| --- \|\n((?:\|.*\n)+)", NOTE, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert len(tables) == 4
    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"\| `tests/[^|]+` \|$", row)] == []


def test_whom_it_is_about() -> None:
    for heading in ("Whom aotloop trusts", "A hostile repository", "A hostile agent", "A hostile web page", "Secrets"):
        assert f"\n## {heading}\n" in NOTE


def test_nothing_of_ours_speaks_to_the_network() -> None:
    speaking = re.compile(
        r"^\s*(import|from) (socket|http|urllib\.request|ssl|ftplib|smtplib|xmlrpc|aiohttp|httpx|requests|websockets)\b"
        r"|\b(open_connection|start_server|create_connection|create_server|open_unix_connection)\(",
        re.MULTILINE,
    )
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "plugin").rglob("*.py")]
    assert len(sources) > 100
    assert [path for path in sources if speaking.search(path.read_text())] == []
