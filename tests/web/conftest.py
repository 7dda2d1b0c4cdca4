"""One browser for all tests of a worker; each test has a profile of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.web.browser import MILLISECONDS, browser


@pytest.fixture(scope="session")
def chrome() -> Iterator[Any]:
    with browser() as running:
        yield running


@pytest.fixture
def page(chrome: Any) -> Iterator[Any]:
    """Fails if a page reports any error."""
    context = chrome.new_context(viewport={"width": 1200, "height": 850})
    context.set_default_timeout(MILLISECONDS)
    found = context.new_page()
    problems: list[str] = []
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("dialog", lambda dialog: problems.append(f"a script ran: {dialog.message}"))
    yield found
    context.close()
    assert problems == []
