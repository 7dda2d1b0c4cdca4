"""`aot log` tells the history that the state file keeps, oldest first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aotloop.core.model import Correction, TrailEntry
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def failure(atom_id: str, attempt: int, reason: str, at: str) -> TrailEntry:
    return TrailEntry(
        or_group=None, selected=None, reason=reason, timestamp=at, type="failure", atom=atom_id, attempt=attempt
    )


HISTORY: dict[str, Any] = {
    "trail": [
        TrailEntry(or_group="way", selected="A2", reason="A1 was\ntoo slow", timestamp="2026-01-03T00:00:00Z"),
        failure("A1", 2, "no luck", "2026-01-01T00:00:00Z"),
        failure("Old", 1, "gone", "2026-01-04T00:00:00Z"),
    ],
    "corrections": [
        Correction(timestamp="2026-01-02T00:00:00Z", type="objective_change", description="more", trail_cleared=True)
    ],
}


def with_history(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", or_group="way"), atom("A2", or_group="way"), atom("A3"), **HISTORY))


def test_all_of_it_in_the_order_of_time(project: Path) -> None:
    with_history(project)
    assert aot("log").out.splitlines() == [
        "2026-01-01T00:00:00Z  failure          A1#1: no luck",
        "2026-01-02T00:00:00Z  correction       objective changed: more (trail cleared)",
        "2026-01-03T00:00:00Z  selection        way → A2: A1 was too slow",
        "2026-01-04T00:00:00Z  failure          Old#1: gone",
    ]


def test_a_correction_is_one_line_though_the_file_has_it_twice(project: Path) -> None:
    at = "2026-01-02T00:00:00Z"
    trail = [
        TrailEntry(or_group=None, selected=None, reason="new", timestamp=at, type="user_correction", atom=name)
        for name in ("A1", "A2")
    ]
    corrections = [
        Correction(timestamp=at, type=kind, description="new", trail_cleared=False)
        for kind in ("dag_adjustment", "dag_adjustment", "constraint_change")
    ]
    write_loop(project, a_loop(atom("A1"), atom("A2"), trail=trail, corrections=corrections))
    assert [line.split("Z  ")[1] for line in aot("log").out.splitlines()] == [
        "user_correction  A1: new",
        "user_correction  A2: new",
        "correction       limits changed: new",
    ]
    told = [entry.get("correction", {}).get("type") for entry in aot("log", "--json").json["entries"]]
    assert told == ["dag_adjustment", "dag_adjustment", None]


def test_only_what_is_about_one_atom(project: Path) -> None:
    with_history(project)
    assert [entry["reason"] for entry in aot("log", "A2", "--json").json["entries"]] == ["A1 was\ntoo slow"]
    assert aot("log", "A3").out == "Nothing has happened with A3 so far: no result, no failure, no correction.\n"


def test_an_atom_that_is_gone_still_has_its_history(project: Path) -> None:
    with_history(project)
    assert "gone" in aot("log", "Old").out
    assert aot("log", "Older").code == 1


def test_no_history_is_said_in_words(project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    ran = aot("log")
    assert ran.out == "Nothing has happened so far: no result, no failure, no correction.\n"
    assert ran.err == "Next: aot status\n"
    assert aot("log", "--json").json == {"entries": []}
