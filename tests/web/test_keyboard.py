"""A person without a mouse reaches everything, and loses neither the focus nor an open part while a run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.app.overview.loop_registry import register
from aotloop.core.model import Loop
from aotloop.statefile.store import Store
from tests.loops import a_loop, atom, write_accepted
from tests.web.browser import HOW_TO_GET_ONE, in_thread, open_loop, program

pytestmark = [pytest.mark.web, pytest.mark.skipif(program() is None, reason=HOW_TO_GET_ONE)]
MOST_KEYS = 60


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = write_accepted(tmp_path, a_loop(atom("A1"), atom("A2", "A1"), status="stopped"))
    register(str(found))
    return found


def focused(page: Any) -> str:
    """What a screen reader would call it."""
    told = "const one = document.activeElement; return one.getAttribute('aria-label') ?? one.id ?? '';"
    text = "document.activeElement.textContent.slice(0, 80)"
    return str(page.evaluate(f"(() => {{ {told} }})() + ' ' + {text}"))


def tab_to(page: Any, words: str) -> None:
    for _ in range(MOST_KEYS):
        page.keyboard.press("Tab")
        if words in focused(page):
            assert page.evaluate("document.activeElement.matches(':focus-visible')")
            return
    raise AssertionError(f"no Tab leads to {words}")


def test_a_walk_through_the_page_without_a_mouse(page: Any, path: Path) -> None:
    assert path.exists()
    with in_thread() as link:
        page.goto(link)
        page.locator(".row").wait_for()
        page.keyboard.press("Tab")
        assert "Skip to the content" in focused(page)
        tab_to(page, "It works")
        page.keyboard.press("Enter")
        page.locator(".card").first.wait_for()
        tab_to(page, "Redirect")
        page.keyboard.press("Enter")
        page.locator("dialog").wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        assert "Redirect" in focused(page)
        tab_to(page, "tab-graph")
        page.keyboard.press("ArrowRight")
        assert "tab-atoms" in focused(page)
        assert page.locator("#tab-atoms").get_attribute("aria-selected") == "true"
        page.keyboard.press("ArrowLeft")
        tab_to(page, "Work graph")
        before = page.locator(".graph > g").get_attribute("transform")
        page.keyboard.press("+")
        assert page.locator(".graph > g").get_attribute("transform") != before
        tab_to(page, "A1")
        page.keyboard.press("Enter")
        page.locator("h1", has_text="A1").wait_for()


def test_an_event_takes_neither_the_focus_nor_what_is_open(page: Any, path: Path) -> None:
    with in_thread() as link:
        open_loop(page, link)
        page.locator("summary", has_text="Objective").click()
        page.get_by_role("button", name="Redirect").focus()

        def resolve(loop: Loop) -> None:
            loop.control = replace(loop.control, iteration=7)

        Store(str(path)).update(resolve)
        page.locator(".fact", has_text="7 of").wait_for()
        assert "Redirect" in focused(page)
        assert page.locator("details.objective").get_attribute("open") is not None


def test_who_wants_no_motion_sees_none(chrome: Any, path: Path) -> None:
    assert path.exists()
    context = chrome.new_context(reduced_motion="reduce")
    page = context.new_page()
    with in_thread() as link:
        open_loop(page, link)
        moves = "one => getComputedStyle(one).transitionDuration !== '0s'"
        assert page.evaluate(f"[...document.querySelectorAll('*')].filter({moves}).length") == 0
    context.close()
