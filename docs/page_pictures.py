"""Takes the pictures of the web page from a real browser, against a real run that goes on meanwhile: make screens.

The agent is a small program that does as it is told; everything else is real. Nothing on a picture says on which
machine it was taken. With `--all FOLDER`, every page is taken in every look, for a person who works on the design.
"""

from __future__ import annotations

import argparse
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.app.ship.features import TEST_FILE, TESTS, a_feature, at
from tests.cli.judged_loops import NICE, done_but_judged
from tests.loops import write_accepted
from tests.patience import shell_until_there
from tests.repositories import new_repository
from tests.runner.agents import done, fails, scripted
from tests.runner.projects import Project, a_project
from tests.web.browser import HOW_TO_GET_ONE, MILLISECONDS, browser, program, serving

from aotloop.core.model import Atom as AtomOfLoop
from aotloop.core.model import BaseCase, Check, ChecklistItem, Constraints, Loop, OrGroup
from aotloop.phases.receipts import file_receipt

DOCS = Path(__file__).parent
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light", "viewport": {"width": 1120, "height": 1060}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1120, "height": 620}},
    "phone": {"color_scheme": "light", "viewport": {"width": 390, "height": 780}, "device_scale_factor": 2},
}
TABS = ("graph", "atoms", "timeline", "base-case", "log", "cost")
GOAL = "Users can sign in and out with a session that survives a restart"
ATOMS = {
    "schema": ("Choose the schema of the user table", ()),
    "signed": ("Issue signed tokens that a server can check alone", ("schema",)),
    "stored": ("Keep sessions in the database", ("schema",)),
    "page": ("Write the page about signing in", ("schema",)),
    "limits": ("Limit wrong passwords for each account and address", ("schema",)),
    "endpoints": ("Connect the endpoints, so that a user can sign in and out", ("signed", "limits")),
    "restart": ("Prove with a test that a session survives a restart", ("endpoints", "page")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every page in every look, into this folder")
    everything = parser.parse_args().all
    if program() is None:
        raise SystemExit(HOW_TO_GET_ONE)
    with (
        tempfile.TemporaryDirectory(prefix="aot-pages-") as folder,
        a_machine(Path(folder)) as (project, gate),
        serving(project.root, "--yes", "--serve", command="run", AOT_CONFINE="off") as server,
        browser() as chrome,
    ):
        for look, options in LOOKS.items():
            context = chrome.new_context(reduced_motion="reduce", **options)
            context.set_default_timeout(MILLISECONDS)
            page = context.new_page()
            page.goto(server.link)
            page.locator(".row").first.wait_for()
            if everything is None:
                take_for_docs(page, look)
            else:
                take_all(page, look, everything)
            context.close()
        gate.touch()


@contextmanager
def a_machine(home: Path) -> Iterator[tuple[Project, Path]]:
    """A home with a loop that will run, one that waits for a word, and a feature whose tests wait for approval."""
    for name in [name for name in os.environ if name.startswith(("AOT_", "GIT_", "XDG_", "CLAUDE_"))]:
        del os.environ[name]
    os.environ.update(HOME=str(home), GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    gate = home / ".gate"
    folders = {name: home / name for name in ("sign-in", "invoices", "search")}
    for one in folders.values():
        one.mkdir()
    judged = done_but_judged(NICE)
    judged.objective = replace(judged.objective, goal="Invoices are readable on paper and on a phone")
    new_repository(folders["invoices"])
    write_accepted(folders["invoices"], judged)
    feature = a_feature(folders["search"])
    ground = at(feature, "spec_test", skip_test_review=False, feature="Search finds words with a typing error")
    sha = feature.commit({TEST_FILE: TESTS})
    file_receipt(ground, artifact=TEST_FILE, sha=sha, summary="one test")
    from aotloop.app.overview.loop_registry import register  # noqa: PLC0415 - HOME is set now

    register(str(folders["invoices"] / ".claude" / "aot-loop-state.md"))
    yield a_loop_at_work(folders["sign-in"], gate), gate


def a_loop_at_work(folder: Path, gate: Path) -> Project:
    """Most is done, one alternative failed, and one agent works until the gate is open."""
    used = {"usage": {"cost_usd": 0.11, "input": 5200, "output": 1900, "turns": 6}}
    book = {
        name: [paid(done({f"src/{name}.py": f"# {text}\n"}, summary=text, say="Reading the files\nWriting"), used)]
        for name, (text, _) in ATOMS.items()
    }
    book["signed"] = [paid(fails("a signed token cannot be taken back when a user signs out"), used)]
    book["endpoints"] = [{**book["endpoints"][0], "run": shell_until_there(gate), "say": "The tests need a database"}]
    config = scripted(folder, book, agent="apprentice")
    items = (
        ChecklistItem(item="tests pass", check=Check(type="command", value="test -f src/restart.py")),
        ChecklistItem(item="no password is logged", check=Check(type="not_command", value="grep -rq password= src")),
        ChecklistItem(item="easy to understand", check=Check(type="assertion", value="A new user needs no help")),
    )
    atoms = [
        AtomOfLoop(
            id=name,
            description=text,
            status="pending",
            depends_on=after,
            or_group="tokens" if name in ("signed", "stored") else None,
        )
        for name, (text, after) in ATOMS.items()
    ]
    project = a_project(
        folder,
        *atoms,
        base_case=BaseCase(checklist=items),
        or_groups={"tokens": OrGroup(choices=("signed", "stored"), selected="signed")},
        constraints=Constraints(max_cost_usd=5.0, max_attempts=1, max_runtime="2h", max_parallel_agents=3),
        config=config,
    )
    project.edit(_worded)
    return project


def _worded(loop: Loop) -> None:
    loop.objective = replace(
        loop.objective,
        goal=GOAL,
        background_intent="The prototype has no users",
        deliverables="Endpoints, a page, tests",
        definition_of_done="A user signs in, the server restarts, and the user is still signed in",
    )


def paid(order: dict[str, Any], used: dict[str, Any]) -> dict[str, Any]:
    return {**order, "answer": {**order["answer"], **used}}


def take_for_docs(page: Any, look: str) -> None:
    open_running(page)
    if look == "dark":
        page.click("#tab-timeline")
        page.locator(".fate-running").first.wait_for()
    take(page, DOCS / f"web-{look}.png")


def take_all(page: Any, look: str, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    page.get_by_text("Needs you").first.wait_for()
    take(page, folder / f"{look}-list.png")
    open_running(page)
    for tab in TABS:
        page.click(f"#tab-{tab}")
        page.locator("#panel *").first.wait_for()
        page.wait_for_timeout(700)
        take(page, folder / f"{look}-{tab}.png")
    address = page.url.partition("#")[0]
    page.get_by_role("button", name="Redirect").click()
    take(page, folder / f"{look}-redirect.png")
    page.get_by_label("What should change?").select_option("choose")
    page.get_by_label("Group → choice").select_option(label="tokens → signed")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Apply").wait_for()
    take(page, folder / f"{look}-preview.png")
    page.goto(f"{address}/atom?id=page")
    page.locator(".attempt").wait_for()
    page.wait_for_timeout(700)
    take(page, folder / f"{look}-atom.png")
    page.goto(address.partition("/loop/")[0])
    page.locator(".row", has_text="Search finds").click()
    page.locator(".phase").first.wait_for()
    take(page, folder / f"{look}-feature.png")


def open_running(page: Any) -> None:
    page.locator(".row", has_text=GOAL).click()
    page.locator(".card.look-in_progress", has_text="endpoints").wait_for()
    page.get_by_text("4 of 6 required").wait_for()
    page.wait_for_timeout(1000)


def take(page: Any, path: Path) -> None:
    """Refuses a picture that tells of the machine."""
    traces = [tempfile.gettempdir(), socket.gethostname(), str(DOCS.parent)]
    if found := [trace for trace in traces if trace in page.evaluate("document.body.innerText")]:
        raise SystemExit(f"{path.name}: it shows {', '.join(found)}")
    page.screenshot(path=path)


if __name__ == "__main__":
    main()
