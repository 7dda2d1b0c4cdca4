"""Every decision of a person on a page: previewed, made once, seen by every other page; a session only proposes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from aotloop.app.overview.loop_registry import register
from aotloop.app.redirect.proposals import proposals_of, propose
from aotloop.app.redirect.wishes import Wishes
from aotloop.core.model import Binding, Loop, OrGroup
from aotloop.statefile.store import Store
from mcp import Client
from tests.loops import a_loop, atom, write_accepted
from tests.mcp.sessions import called, in_session
from tests.web.browser import HOW_TO_GET_ONE, in_thread, open_loop, program, seen

pytestmark = [pytest.mark.web, pytest.mark.skipif(program() is None, reason=HOW_TO_GET_ONE)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    atoms = [
        atom("A1", status="resolved"),
        atom("B1", "A1", status="resolved", or_group="G"),
        atom("B2", "A1", or_group="G"),
        atom("C1", "B1"),
    ]
    groups = {"G": OrGroup(choices=("B1", "B2"), selected="B1")}
    bindings = {"A1": Binding(summary="done"), "B1": Binding(summary="done")}
    found = write_accepted(tmp_path, a_loop(*atoms, status="stopped", or_groups=groups, bindings=bindings))
    register(str(found))
    return found


def loop_at(path: Path) -> Loop:
    return Store(str(path)).load()


def limit(page: Any, value: str) -> None:
    page.get_by_label("Limit").select_option("max_iterations")
    page.get_by_label("Value").fill(value)


Fill = Callable[[Any], object]
CORRECTIONS: list[tuple[str, Fill, str, str]] = [
    ("limits", lambda page: limit(page, "40"), "Nothing is reset", "constraint_change"),
    ("add", lambda page: page.get_by_label("What is to be done").fill("tea"), "New atom: A2", "dag_adjustment"),
    ("remove", lambda page: page.get_by_label("Atom", exact=True).fill("A2"), "Removed: A2", "dag_adjustment"),
    ("retry", lambda page: page.get_by_label("Atom", exact=True).fill("C1"), "Nothing is reset", "dag_adjustment"),
    (
        "summary",
        lambda page: (page.get_by_label("Atom", exact=True).fill("A1"), page.get_by_label("What it led to").fill("x")),
        "Done again: B1",
        "bindings_override",
    ),
    (
        "choose",
        lambda page: page.get_by_label("Group → choice").select_option(label="G → B2"),
        "Nothing is reset",
        "dag_adjustment",
    ),
    ("objective", lambda page: page.get_by_label("Goal").fill("another goal"), "more attempts", "objective_change"),
]


def preview(page: Any, kind: str, fill: Fill) -> None:
    page.get_by_role("button", name="Redirect").click()
    page.get_by_label("What should change?").select_option(kind)
    fill(page)
    page.get_by_label("Why?").fill(f"because of {kind}")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Apply").wait_for()


def test_every_correction_is_previewed_before_it_is_made(page: Any, path: Path) -> None:
    with in_thread() as link:
        open_loop(page, link)
        for kind, fill, shown, recorded in CORRECTIONS:
            before = path.read_bytes()
            preview(page, kind, fill)
            assert shown in page.locator("dialog").last.inner_text(), kind
            assert path.read_bytes() == before
            page.get_by_role("button", name="Apply").click()
            page.locator("dialog").first.wait_for(state="detached")
            last = loop_at(path).corrections[-1]
            assert (last.type, last.description) == (recorded, f"because of {kind}")
        page.locator(".goal", has_text="another goal").wait_for()
    assert len(loop_at(path).corrections) == len(CORRECTIONS)


def test_a_correction_that_is_left_changes_nothing(page: Any, path: Path) -> None:
    before = path.read_bytes()
    with in_thread() as link:
        open_loop(page, link)
        preview(page, "limits", lambda page: limit(page, "40"))
        page.keyboard.press("Escape")
        page.locator("dialog").first.wait_for(state="detached")
        page.get_by_role("button", name="Redirect").click()
        page.get_by_label("What should change?").select_option("remove")
        page.get_by_label("Atom", exact=True).fill("no such atom")
        page.get_by_role("button", name="Preview").click()
        page.locator("dialog [role=alert]").get_by_text("no such atom").first.wait_for()
    assert path.read_bytes() == before


def test_of_two_browsers_that_decide_at_once_the_second_one_looks_again(chrome: Any, page: Any, path: Path) -> None:
    with in_thread() as link:
        other = chrome.new_context().new_page()
        for one in (page, other):
            open_loop(one, link)
            preview(one, "add", lambda page: page.get_by_label("What is to be done").fill("tea"))
        page.get_by_role("button", name="Apply").click()
        page.locator("dialog").first.wait_for(state="detached")
        other.get_by_role("button", name="Apply").click()
        seen(other, "another correction was made after you looked")
        other.get_by_role("button", name="Cancel").last.click()
        other.click("#tab-atoms")
        seen(other, "tea")
        other.context.close()
    assert [one.description for one in loop_at(path).atoms].count("tea") == 1


def test_a_person_accepts_on_the_page_what_a_session_proposes(page: Any, path: Path) -> None:
    async def talk(client: Client) -> None:
        await called(client, "propose_correction", reason="guests come", add="Make <b>tea</b>", add_after=["A1"])

    with in_thread() as link:
        open_loop(page, link)
        before = path.read_bytes()
        with ThreadPoolExecutor() as beside:  # the browser has an event loop here
            beside.submit(in_session, path.parents[1], talk).result()
        page.get_by_role("button", name="Proposals (1)").click()
        seen(page, "guests come")
        assert "Make <b>tea</b>" in page.locator("dialog").inner_text()
        assert "New atom: A2" in page.locator("dialog").inner_text()
        assert path.read_bytes() == before
        page.get_by_role("button", name="Apply").click()
        page.get_by_role("button", name="Proposals").wait_for(state="detached")
        propose(Store(str(path)), Wishes(limits=("max_iterations=77",)), "a client")
        page.get_by_role("button", name="Proposals (1)").click()
        page.get_by_role("button", name="Dismiss it").click()
        page.get_by_role("button", name="Proposals").wait_for(state="detached")
    assert [one.description for one in loop_at(path).atoms][-1] == "Make <b>tea</b>"
    assert len(loop_at(path).corrections) == 1
    assert proposals_of(Store(str(path))) == []
