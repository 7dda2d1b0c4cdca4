"""The pages in a real browser, against real runs that go on meanwhile."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aotloop.app.overview.loop_registry import register
from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints, OrGroup
from aotloop.process.sandbox import is_possible
from aotloop.trust.folder import record_of
from tests.app.diagram.loops import layered
from tests.cli.judged_loops import NICE, done_but_judged
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.patience import shell_until_there, until
from tests.repositories import new_repository
from tests.runner.agents import done, scripted
from tests.runner.projects import Project, a_project
from tests.web.browser import (
    HOW_TO_GET_ONE,
    MILLISECONDS,
    Serving,
    audit,
    in_thread,
    open_loop,
    program,
    seen,
    serving,
    until_page,
)
from tests.web.wire import wire_to

pytestmark = [pytest.mark.web, pytest.mark.skipif(program() is None, reason=HOW_TO_GET_ONE)]


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    return tmp_path / "go-on"


@pytest.fixture
def project(tmp_path: Path, gate: Path) -> Project:
    """One atom that is done at once, one that fails and has an alternative, one that waits for the test."""
    items = (
        ChecklistItem(item="the file is there", check=Check(type="command", value="test -f last")),
        ChecklistItem(item="it is nice", check=Check(type="assertion", value="the page looks nice")),
    )
    return a_project(
        tmp_path,
        atom("A1", run="echo hello > first; echo printed by A1"),
        atom("A2", "A1", run="false", or_group="G"),
        atom("A3", "A1", run="echo third > third", or_group="G"),
        atom("A4", "A2", run=f"echo begun; {shell_until_there(gate)}; echo x > last"),
        base_case=BaseCase(checklist=items),
        or_groups={"G": OrGroup(choices=("A2", "A3"), selected="A2")},
        constraints=Constraints(max_attempts=1),
    )


@pytest.fixture
def run(project: Project) -> Iterator[Serving]:
    """A run and a page that outlives it, each in a process of its own."""
    with project.running(), serving(project.root) as found:
        yield found


@pytest.fixture
def run_with_page(project: Project) -> Iterator[Serving]:
    """Both in one process."""
    with serving(project.root, "--yes", "--json", "--serve", command="run", AOT_CONFINE="off") as found:
        yield found


@pytest.mark.skipif(not is_possible(), reason="this kernel has no Landlock")
def test_a_hostile_agent_in_an_attempt_cannot_steer(tmp_path: Path, own_home: Path) -> None:
    """It is fenced as by default. It sees the port, but finds nothing that opens the page."""
    agent, port = Path(__file__).with_name("hostile_agent.py"), tmp_path / "port"
    key = record_of("loops", str(tmp_path / "project" / ".claude" / "aot-loop-state.md")).stem
    command = f"{shell_until_there(port)}; {sys.executable} {agent} {key} {port} {own_home} {tmp_path}"
    config = scripted(tmp_path, {"A1": [done({}, run=command)]})
    (tmp_path / "scripted.json.asked").touch()  # nothing new can be made beside the project
    project = a_project(tmp_path, atom("A1"), base_case="test -f report.json", config=config)
    with serving(project.root, "--yes", "--json", "--serve", command="run") as server:
        draft = tmp_path / "draft"
        draft.write_text(str(server.port))
        draft.rename(port)
        told = "".join(server.process.communicate())
    assert (project.root / "report.json").is_file(), told
    report = json.loads((project.root / "report.json").read_text())
    assert report["is_seen"]
    assert report["tokens"] == 0
    assert set(report["answers"]) == {401}
    assert (project.loop.control.status, project.loop.corrections) == ("completed", [])
    assert not any(server.token.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_every_view_of_a_run_that_goes_on(page: Any, run: Serving, project: Project, gate: Path) -> None:
    open_loop(page, run.link)
    assert run.token not in page.url
    seen(page, "2 of 3 required atoms resolved")
    page.locator(".card.look-in_progress", has_text="A4").wait_for()
    page.locator(".card.look-failed", has_text="A2").wait_for()
    page.click("#tab-timeline")
    page.locator(".fate-failed").first.wait_for()
    assert page.locator(".fate-running rect").count() == 1
    page.click("#tab-log")
    page.get_by_label("Search the log").fill("A1#1: merged")
    seen(page, "A1#1: merged as")
    page.get_by_label("Search the log").fill("instead of")
    seen(page, "G: A3 instead of A2")
    page.click("#tab-base-case")
    page.locator(".state-fails", has_text="the file is there").first.wait_for()
    page.click("#tab-atoms")
    page.get_by_role("listitem").filter(has_text="A4").click()
    seen(page, "begun")
    page.goto(page.url.replace("A4", "A1"))
    seen(page, "printed by A1")
    seen(page, "+hello")
    gate.touch()
    page.goto(page.url.partition("/atom")[0] + "#base-case")
    seen(page, "Needs you: confirm or reject")
    page.locator(".state-holds", has_text="the file is there").first.wait_for()
    until(lambda: project.loop.control.status == "stopped")


def test_a_dropped_connection_and_a_reload_lose_nothing(page: Any, run: Serving, project: Project, gate: Path) -> None:
    with wire_to(run.port) as wire:
        open_loop(page, run.link.replace(str(run.port), str(wire.port)))
        page.click("#tab-log")
        seen(page, "A4#1 began")
        wire.cut()
        seen(page, "not connected")
        gate.touch()
        until(lambda: any(one["kind"] == "merged" and one["atom"] == "A4" for one in project.news()))
        wire.mend()
        seen(page, "A4#1: merged as")
        page.get_by_label("Search the log").fill("began, by")
        assert page.locator(".log-row").count() == 4
        page.reload()
        seen(page, "A4#1: merged as")


def test_a_person_redirects_and_stops_a_run(page: Any, run_with_page: Serving, project: Project) -> None:
    open_loop(page, run_with_page.link)
    page.locator(".card.look-in_progress", has_text="A4").wait_for()
    page.get_by_role("button", name="Redirect").click()
    page.get_by_label("What should change?").select_option("choose")
    page.get_by_label("Group → choice").select_option(label="G → A2")
    page.get_by_role("button", name="Preview").click()
    seen(page, "Work taken back from the branch")
    page.get_by_role("button", name="Apply").click()
    until(lambda: [one.type for one in project.loop.corrections] == ["dag_adjustment"])
    page.get_by_role("button", name="Stop").click()
    page.get_by_label("Why?").fill("enough of it")
    page.locator("dialog").get_by_role("button", name="Stop").click()
    until(lambda: project.loop.control.stop_reason == "user: enough of it")


def test_a_person_retries_an_atom(page: Any, run: Serving, project: Project) -> None:
    open_loop(page, run.link)
    page.locator(".card", has_text="A2").first.click()
    page.get_by_role("button", name="Retry").click()
    page.get_by_role("button", name="Apply").click()
    until(lambda: len(project.loop.corrections) == 1)


def judged(folder: Path) -> Path:
    folder.mkdir()
    new_repository(folder)
    path = write_accepted(folder, done_but_judged(NICE))
    register(str(path))
    return path


def test_a_person_confirms_in_one_browser_and_another_one_sees_it(chrome: Any, page: Any, tmp_path: Path) -> None:
    path = judged(tmp_path / "j")
    with in_thread() as link:
        open_loop(page, link)
        other = chrome.new_context().new_page()
        open_loop(other, link)
        page.click("#tab-base-case")
        page.get_by_role("button", name="Confirm").click()
        page.locator("dialog").get_by_role("button", name="Confirm").click()
        other.locator(".badge.completed").wait_for(timeout=MILLISECONDS)
        other.context.close()
    assert b"status: completed" in path.read_bytes()


def test_commands_are_shown_whole_before_they_are_accepted(page: Any, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    register(str(write_loop(tmp_path / "c", a_loop(atom("A1", run="echo one\nrm -rf '<b>'"), status="pending"))))
    with in_thread() as link:
        open_loop(page, link)
        page.get_by_role("button", name="Read and accept commands").click()
        page.locator(".commands pre").first.wait_for()
        assert "echo one\nrm -rf '<b>'" in page.locator(".commands pre").all_inner_texts()
        page.get_by_role("button", name="Accept all").click()
        page.get_by_role("button", name="Read and accept commands").wait_for(state="detached")


def test_a_wrong_token_opens_nothing(page: Any, tmp_path: Path) -> None:
    judged(tmp_path / "j")
    with in_thread() as link:
        page.goto(f"{link.partition('#')[0]}#token=wrong")
        seen(page, "this is not the token")
        assert page.locator(".row").count() == 0
        page.get_by_label("Token").fill(link.partition("token=")[2])
        page.get_by_role("button", name="Log in").click()
        page.locator(".row").wait_for()
        page.get_by_role("button", name="Log out").click()
        page.get_by_label("Token").wait_for()
        page.goto(link)  # in the same tab: only what follows `#` differs
        page.locator(".row").wait_for()


def test_three_thousand_atoms_stay_usable(page: Any, tmp_path: Path) -> None:
    (tmp_path / "large").mkdir()
    path = write_accepted(tmp_path / "large", layered(3000))
    register(str(path))
    with in_thread() as link:
        open_loop(page, link)
        page.locator(".card").first.wait_for()
        assert page.locator(".card").count() <= 120
        assert page.locator(".card .label").first.bounding_box()["height"] > 8, "it begins with cards that can be read"
        page.locator(".card").nth(3).press("Enter")
        page.locator(".folds button").wait_for()
        until_page(page, "document.activeElement.matches('.card')")
        inside, around = page.locator(".card:focus").bounding_box(), page.locator(".graph").bounding_box()
        assert around["y"] <= inside["y"] <= around["y"] + around["height"], "what was opened is in sight"
        page.click("#tab-atoms")
        page.locator(".atom-row").first.wait_for()
        assert page.locator(".atom-row").count() < 60
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        used = session.send("Runtime.getHeapUsage")["usedSize"]
        assert used < 100 << 20


def test_a_page_about_what_is_not_there_says_so_and_goes_on_when_it_is(page: Any, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    path = write_accepted(tmp_path / "gone", a_loop(atom("A1"), status="stopped"))
    register(str(path))
    whole = path.read_bytes()
    with in_thread() as link:
        open_loop(page, link)
        page.locator(".card").wait_for()
        path.write_text("---\nobjective: [\n---\n")
        seen(page, "This is the last known state.")
        page.reload()
        page.locator(".problem", has_text="line 3").wait_for()
        assert not page.locator("#panel").is_visible()
        path.unlink()
        page.reload()
        page.locator(".problem", has_text="there is no such loop").wait_for()
        assert audit(page, "a loop that is gone") == []
        path.write_bytes(whole)
        page.locator(".card").wait_for()
        page.goto(link.replace("/#", "/nothing#"))
        seen(page, "There is no such page")


def test_a_page_in_the_background_leaves_the_connections_to_others(page: Any, tmp_path: Path) -> None:
    """A browser opens six to one server, so with a seventh page none of them would hear or do anything."""
    (tmp_path / "quiet").mkdir()
    register(str(write_accepted(tmp_path / "quiet", a_loop(atom("A1"), status="stopped"))))
    hide = "is => { Object.defineProperty(document, 'hidden', {value: is, configurable: true});"
    with in_thread() as link:
        pages = [page, *(page.context.new_page() for _ in range(6))]
        for number, one in enumerate(pages):
            if number:
                pages[number - 1].evaluate(f"({hide} document.dispatchEvent(new Event('visibilitychange')); }})(true)")
            open_loop(one, link)
        page.evaluate(f"({hide} document.dispatchEvent(new Event('visibilitychange')); }})(false)")
        page.get_by_role("button", name="Redirect").click()
        page.get_by_label("What should change?").select_option("add")
        page.get_by_label("What is to be done").fill("tea")
        page.get_by_role("button", name="Preview").click()
        page.get_by_role("button", name="Apply").click()
        page.click("#tab-atoms")
        seen(page, "tea")


LONG = "a-name-that-is-too-long-for-the-narrow-screen-of-a-phone"


def test_long_texts_overlap_nothing_on_a_phone(chrome: Any, tmp_path: Path) -> None:
    (tmp_path / LONG).mkdir()
    atoms = [
        atom(f"{LONG}-{number}", or_group=f"group-of-{LONG}", description=" ".join([LONG] * 5)) for number in range(9)
    ]
    loop = a_loop(*atoms, *(atom(f"B{number}") for number in range(1200)), status="stopped")
    register(str(write_accepted(tmp_path / LONG, loop)))
    context = chrome.new_context(viewport={"width": 390, "height": 780})
    page = context.new_page()
    with in_thread() as link:
        page.goto(link)
        page.locator(".row").wait_for()
        fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert page.evaluate(fits)
        page.locator(".row").click()
        page.click("#tab-atoms")
        page.locator(".atom-row").first.wait_for()
        boxes = [one.bounding_box() for one in page.locator(".atom-row > .description").all()]
        rows = [one.bounding_box() for one in page.locator(".atom-row").all()]
        assert all(
            row["y"] <= box["y"] and box["y"] + box["height"] <= row["y"] + row["height"]
            for row, box in zip(rows, boxes, strict=True)
        )
        assert page.evaluate(fits)
    context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 390)])
def test_every_page_passes_the_accessibility_checks(
    chrome: Any, run: Serving, gate: Path, scheme: Any, width: int
) -> None:
    context = chrome.new_context(color_scheme=scheme, viewport={"width": width, "height": 850})
    page = context.new_page()
    page.set_default_timeout(MILLISECONDS)
    page.goto(run.link)
    page.locator(".row").wait_for()
    found = audit(page, "list")
    page.locator(".row").first.click()
    page.locator(".card.look-in_progress").wait_for()
    for tab in ("graph", "timeline", "base-case", "log", "cost", "atoms"):
        page.click(f"#tab-{tab}")
        page.locator("#panel *").first.wait_for()
        found += audit(page, tab)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    page.get_by_role("button", name="Redirect").click()
    found += audit(page, "redirect")
    page.get_by_label("What should change?").select_option("limits")
    page.get_by_label("Limit").select_option("max_iterations")
    page.get_by_label("Value").fill("40")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Apply").wait_for()
    found += audit(page, "preview")
    page.goto(page.url.partition("#")[0] + "/atom?id=A1")
    page.locator(".attempt").wait_for()
    found += audit(page, "atom")
    context.close()
    assert gate.exists() is False
    assert found == [], "\n".join(found)
    assert wide <= 0, "the page is wider than the screen"
