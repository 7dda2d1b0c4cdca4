"""The server or the wire is gone in the middle of an action: the page says so, comes back, and does nothing twice."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from aotloop.app.overview.loop_registry import register
from aotloop.statefile import durable
from aotloop.statefile.store import Store
from tests.cli.judged_loops import NICE, done_but_judged, item
from tests.loops import a_loop, atom, write_accepted
from tests.patience import shell_until_there, until
from tests.repositories import new_repository
from tests.web.browser import HOW_TO_GET_ONE, in_thread, open_loop, program, seen, serving
from tests.web.wire import wire_to

pytestmark = [pytest.mark.web, pytest.mark.skipif(program() is None, reason=HOW_TO_GET_ONE)]
UNKNOWN = "it is not known whether this was done"


def preview_of_tea(page: Any) -> None:
    page.get_by_role("button", name="Redirect").click()
    page.get_by_label("What should change?").select_option("add")
    page.get_by_label("What is to be done").fill("tea")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Apply").wait_for()


def teas(path: Path) -> int:
    return [one.description for one in Store(str(path)).load().atoms].count("tea")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = write_accepted(tmp_path, a_loop(atom("A1"), status="stopped"))
    register(str(found))
    return found


def test_a_server_that_is_killed_while_it_works_leaves_nothing_half_done(page: Any, tmp_path: Path) -> None:
    """The request waits for a check of the base case when the server dies; the next server finishes it."""
    new_repository(tmp_path)
    begun, gate = tmp_path / "begun", tmp_path / "gate"
    slow = item("slow", f"touch {begun}; {shell_until_there(gate)}", "command")
    path = write_accepted(tmp_path, done_but_judged(NICE, slow))
    with serving(tmp_path) as server:
        open_loop(page, server.link)
        page.click("#tab-base-case")
        page.get_by_role("button", name="Confirm").click()
        page.locator("dialog").get_by_role("button", name="Confirm").click()
        until(begun.exists)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        seen(page, UNKNOWN)
        seen(page, "not connected")
        port = str(server.port)
    assert Store(str(path)).load().control.status == "stopped"
    gate.touch()
    with serving(tmp_path, "--port", port) as server:
        page.get_by_label("Token").fill(server.token)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("button", name="Confirm").click()
        page.locator("dialog").get_by_role("button", name="Confirm").click()
        page.locator(".badge.completed").wait_for()
    assert Store(str(path)).load().control.status == "completed"


def test_a_server_that_is_killed_before_it_writes_has_done_nothing(page: Any, path: Path) -> None:
    before = path.read_bytes()
    with serving(path.parents[1]) as server:
        open_loop(page, server.link)
        preview_of_tea(page)
        with durable.locked(str(path)):
            with page.expect_request("**/redirect"):
                page.get_by_role("button", name="Apply").click()
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        seen(page, UNKNOWN)
    assert path.read_bytes() == before


def test_an_answer_that_is_lost_lets_nothing_be_done_twice(page: Any, path: Path) -> None:
    with in_thread() as link:
        port = link.partition("/#")[0].rpartition(":")[2]
        with wire_to(int(port)) as wire:
            open_loop(page, link.replace(port, str(wire.port)))
            preview_of_tea(page)
            wire.is_deaf = True
            page.get_by_role("button", name="Apply").click()
            until(lambda: teas(path))
            wire.cut()
            seen(page, UNKNOWN)
            seen(page, "not connected")
            wire.mend()
            page.locator(".link-state.live").wait_for()
            page.get_by_role("button", name="Apply").click()
            seen(page, "another correction was made after you looked")
    assert teas(path) == 1


PARTS = ["/static/app.js", "/static/loop.js", "/static/dom.js", "/api/login", "/api/session"]


def test_a_page_of_which_a_part_did_not_arrive_is_loaded_again(page: Any, path: Path) -> None:
    """A browser gives up what it is loading when the network changes, for example when a phone leaves a room."""
    lost: list[str] = []

    def lose_once(route: Any) -> None:
        part = route.request.url.partition("//")[2].partition("/")[2]
        if f"/{part}" in PARTS and part not in lost:
            lost.append(part)
            route.abort("internetdisconnected")
        else:
            route.fallback()

    page.route("**/*", lose_once)
    with in_thread() as link:
        open_loop(page, link)
    assert path.exists()
    assert sorted(f"/{part}" for part in lost) == sorted(PARTS)
