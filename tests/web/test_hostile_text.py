"""Text of files, agents and transcripts is only ever text: no script runs, no markup appears, on any page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aotloop.app.overview.loop_registry import register
from aotloop.core.model import (
    Atom,
    BaseCase,
    Binding,
    Check,
    ChecklistItem,
    Constraints,
    Control,
    Correction,
    Decomposition,
    Loop,
    Objective,
    OrGroup,
    TrailEntry,
    Verdict,
)
from aotloop.core.phases.model import PhaseLoop
from aotloop.execution import run_events
from tests.loops import write_loop
from tests.web.browser import HOW_TO_GET_ONE, in_thread, open_loop, program
from tests.web.hostile_values import evil, hostile

pytestmark = [pytest.mark.web, pytest.mark.skipif(program() is None, reason=HOW_TO_GET_ONE)]

MARKUP = (
    "script:not([src='/static/boot.js']), main img, main b, main iframe, main svg[onload], .evil, [href^='javascript']"
)
EVENTS = [
    kind
    for kind in vars(run_events).values()
    if isinstance(kind, type) and issubclass(kind, run_events.RunEvent) and kind is not run_events.RunEvent
]
TABS = ("graph", "timeline", "base-case", "log", "cost", "atoms")


def a_hostile_loop() -> Loop:
    """Its parts are generated. Only the names by which they know each other are the same."""
    name, other, child, group = evil(), evil(), evil(), evil()
    items = (
        hostile(
            ChecklistItem, check=hostile(Check, type="assertion", rubric=None, scope=None), group=None, any_of=None
        ),
        hostile(ChecklistItem, check=hostile(Check, type="command", rubric=None, scope=None), group=None, any_of=None),
    )
    plain = {"timeout": None, "estimate": None, "check": None, "repairs": None, "covers": (), "agent": None}
    atoms = [
        hostile(Atom, id=name, depends_on=(), or_group=group, **plain),
        hostile(Atom, id=other, depends_on=(), or_group=group, **plain),
        hostile(Atom, id=child, depends_on=(name,), or_group=None, **{**plain, "run": None}),
    ]
    choices = {"choices": (name, other), "selected": name, "failed": (other,), "won": None, "seen": (other,)}
    objective = hostile(Objective, constraints=Constraints(), base_case=None)
    verdict = hostile(Verdict, failing=(items[1].item,), commit="0" * 40, scores={}, repair_rounds={})
    return Loop(
        objective=msgspec.structs.replace(objective, base_case=BaseCase(checklist=items)),
        control=hostile(Control, status="stopped", verdict=verdict, run_id="r", session_id=None, last_sha=None),
        atoms=atoms,
        decompositions=[hostile(Decomposition, parent=name, children=(child,))],
        or_groups={group: hostile(OrGroup, **choices, blamed={}, blames={other: 1}, hints={})},
        bindings={child: hostile(Binding)},
        trail=[hostile(TrailEntry, or_group=group, selected=name, atom=other, type="failure")],
        corrections=[hostile(Correction)],
    )


def write_journal(folder: Path, name: str) -> None:
    """One event of every kind, and the files of one attempt."""
    attempt = folder / ".aot" / "attempts" / "x-1"
    attempt.mkdir(parents=True)
    (attempt / "prompt.md").write_text(evil())
    steps = [{"at": 0.1, "stream": one, "text": evil()} for one in ("stdout", "stderr", evil())]
    (attempt / "transcript.jsonl").write_text("".join(json.dumps(step) + "\n" for step in steps))
    given = {"atom": name, "run_id": "r", "folder": ".aot/attempts/x-1", "name": f"{name}#1"}
    events = [hostile(kind, **given) for kind in sorted(EVENTS, key=order)]
    (folder / ".aot" / "events.jsonl").write_bytes(b"".join(msgspec.json.encode(event) + b"\n" for event in events))


def order(kind: Any) -> int:
    """An attempt can only end after it began, and a run after all else."""
    first = ("run_began", "attempt_began", "attempt_ended")
    tag = kind.__struct_config__.tag
    return first.index(tag) if tag in first else (99 if "ended" in tag else 50)


def assert_plain(page: Any, where: str) -> None:
    found = page.locator(MARKUP).all()
    assert found == [], f"{where}: {[one.evaluate('one => one.outerHTML') for one in found]}"


def test_no_text_of_a_loop_becomes_markup(page: Any, tmp_path: Path) -> None:
    loop = a_hostile_loop()
    register(str(write_loop(tmp_path, loop)))
    write_journal(tmp_path, loop.atoms[0].id)
    with in_thread() as link:
        page.goto(link)
        page.locator(".row strong").get_by_text("<img").wait_for()
        assert_plain(page, "list")
        open_loop(page, link)
        page.locator("summary", has_text="Objective").click()
        for tab in TABS:
            page.click(f"#tab-{tab}")
            page.locator("#panel").get_by_text(re.compile("<img|alert")).first.wait_for(state="attached")
            assert_plain(page, tab)
        page.click("#tab-log")
        page.get_by_role("status").filter(has_text=f"{len(EVENTS)} of {len(EVENTS)}").wait_for()
        for name in page.get_by_role("group", name="Steer").get_by_role("button").all_inner_texts():
            page.get_by_role("group", name="Steer").get_by_role("button", name=name).click()
            page.locator("dialog, .told.shown").first.wait_for()
            assert_plain(page, name)
            if page.locator("dialog").count():
                page.get_by_role("button", name="Cancel").click()
        page.click("#tab-atoms")
        page.locator(".atom-row").first.click()
        page.locator("h1", has_text="<img").wait_for()
        page.locator(".transcript", has_text="<script>").wait_for()
        assert_plain(page, "atom")


def test_no_text_of_a_feature_becomes_markup(page: Any, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    path = tmp_path / ".claude" / "autonomous-loop.json"
    feature = hostile(
        PhaseLoop,
        version=PhaseLoop(feature="", phase="plan", started_at="", last_updated="").version,
        phase="spec_test",
        status="waiting",
        session_id=None,
    )
    path.write_bytes(msgspec.json.encode(feature))
    write_journal(tmp_path, evil())
    register(str(path), "feature")
    with in_thread() as link:
        open_loop(page, link)
        page.locator(".receipt", has_text="<img").first.wait_for()
        assert_plain(page, "feature")
        for name in ("Read the acceptance tests", "Stop"):
            page.get_by_role("button", name=name).click()
            page.locator("dialog").wait_for()
            assert_plain(page, name)
            page.get_by_role("button", name="Cancel").click()
