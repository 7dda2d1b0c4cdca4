"""What pages are told about loops, and how each action does what its command does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aotloop.app.overview.loop_registry import register, registered
from aotloop.app.redirect.proposals import propose
from aotloop.app.redirect.wishes import Addition, Wishes
from aotloop.core.model import Binding, Loop, OrGroup
from aotloop.statefile.store import Store
from tests.cli.judged_loops import NICE, done_but_judged
from tests.loops import a_loop, atom, write_accepted, write_loop
from tests.repositories import new_repository
from tests.web.requests import Client, a_server

GROUP = {"G": OrGroup(choices=("B1", "B2"), selected="B1")}


def a_stopped_loop() -> Loop:
    atoms = [
        atom("A1", status="resolved"),
        atom("B1", "A1", status="resolved", or_group="G"),
        atom("B2", "A1", or_group="G"),
        atom("C1", "B1"),
    ]
    bindings = {"A1": Binding(summary="done"), "B1": Binding(summary="done")}
    return a_loop(*atoms, status="stopped", or_groups=GROUP, bindings=bindings)


@pytest.fixture
def client() -> Iterator[Client]:
    with a_server() as found:
        yield found.log_in()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    found = write_accepted(tmp_path / "p", a_stopped_loop())
    register(str(found))
    return found


def key() -> str:
    return registered()[0].key


def loop_at(path: Path) -> Loop:
    return Store(str(path)).load()


def test_the_list_has_every_loop_and_is_told_again_when_one_changes(client: Client, path: Path) -> None:
    ((kind, _, rows),) = client.stream("/api/stream", 1)
    assert (kind, rows[0]["status"], rows[0]["done"], rows[0]["all"]) == ("loops", "stopped", 2, 3)
    assert path.exists()


def test_a_loop_is_told_whole_first(client: Client, path: Path) -> None:
    assert path.exists()
    found = client.stream(f"/api/loops/{key()}/stream", 1)
    facts = next(data for kind, _, data in found if kind == "facts")
    assert facts["whole"]
    assert facts["difference"]["head"]["required"] == 3
    assert [row["id"] for row in facts["difference"]["changed"]] == ["A1", "B1", "B2", "C1"]


def test_a_page_is_told_why_a_file_cannot_be_read_and_when_it_can_again(client: Client, path: Path) -> None:
    whole, address = path.read_bytes(), f"/api/loops/{key()}/stream"
    path.write_text("---\nobjective: [\n---\n")
    with client.listening(address) as stream:
        told = (line.decode() for line in iter(stream.readline, b""))
        assert "line 3" in next(line for line in told if "error" in line)
        path.write_bytes(whole)
        assert '"whole":true' in next(line for line in told if "difference" in line)
        path.unlink()
        assert "aot align" in next(line for line in told if "error" in line)
    assert client.get(address).status == 404


def test_who_comes_back_with_the_last_id_gets_what_came_after_it(client: Client, path: Path) -> None:
    events = path.parents[1] / ".aot" / "events.jsonl"
    events.parent.mkdir()
    line = '{{"kind":"warning","at":"2026-01-01T00:00:00Z","text":"number {}"}}\n'
    events.write_text(line.format(1))
    address = f"/api/loops/{key()}/stream"
    first = next(one for one in client.stream(address, 2) if one[0] == "events")
    assert first[2]["reset"]
    with events.open("a") as file:
        file.write(line.format(2))
    again = next(one for one in client.stream(address, 2, **{"Last-Event-ID": first[1]}) if one[0] == "events")
    assert [event["text"] for event in again[2]["events"]] == ["warning: number 2"]
    assert not again[2]["reset"]


def test_the_graph_the_base_case_the_costs_and_an_atom_are_told(client: Client, path: Path) -> None:
    assert path.exists()
    base = f"/api/loops/{key()}"
    assert len(client.get(f"{base}/graph").data["cards"]) == 4
    assert len(client.get(f"{base}/graph?fold=1").data["cards"]) == 3
    assert client.get(f"{base}/base-case").data["view"]["items"][0]["state"] == "open"
    assert client.get(f"{base}/costs").data["by_agent"] == {}
    assert client.get(f"{base}/atom?id=C1").data["waits_for"] == []
    assert client.get(f"{base}/atom?id=nothing").status == 422
    assert client.get(f"{base}/attempt?name=C1%231").status == 422
    assert client.get("/api/loops/0123/graph").status == 404


CORRECTIONS: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"words": {"goal": "another goal"}}, "objective_change", []),
    ({"limits": ["max_iterations=40"]}, "constraint_change", []),
    ({"add": {"description": "more", "after": ["A1"]}}, "dag_adjustment", []),
    ({"remove": ["C1"]}, "dag_adjustment", []),
    ({"choose": [["G", "B2"]]}, "dag_adjustment", ["B1"]),
    ({"summaries": [["A1", "something else"]]}, "bindings_override", ["B1"]),
    ({"retry": ["C1"]}, "dag_adjustment", []),
]


@pytest.mark.parametrize(("wish", "kind", "reset"), CORRECTIONS)
def test_every_correction_is_previewed_then_made_and_recorded(
    client: Client, path: Path, wish: dict[str, Any], kind: str, reset: list[str]
) -> None:
    base, before = f"/api/loops/{key()}", path.read_bytes()
    seen = client.post(f"{base}/preview", {**wish, "reason": "because"})
    assert seen.status == 200, seen.body
    assert seen.data["reset"] == reset
    assert path.read_bytes() == before
    assert client.post(f"{base}/redirect", {**wish, "reason": "because"}).status == 200
    last = loop_at(path).corrections[-1]
    assert (last.type, last.description) == (kind, "because")
    assert [one.id for one in loop_at(path).atoms if one.id in reset and one.status == "resolved"] == []


@pytest.mark.parametrize(
    "wish", [{"remove": ["nothing"]}, {"limits": ["x=1"]}, {"words": {"verdict": "x"}}, {"base_case": "]["}, {"x": 1}]
)
def test_a_correction_that_cannot_be_is_refused_and_changes_nothing(
    client: Client, path: Path, wish: dict[str, Any]
) -> None:
    before = path.read_bytes()
    answer = client.post(f"/api/loops/{key()}/redirect", wish)
    assert answer.status in (400, 422)
    assert answer.data["error"]
    assert path.read_bytes() == before


def test_commands_are_shown_whole_and_only_the_shown_ones_are_accepted(client: Client, tmp_path: Path) -> None:
    (tmp_path / "q").mkdir()
    path = write_loop(tmp_path / "q", a_loop(atom("A1", run="echo one\necho two"), status="pending"))
    register(str(path))
    base = f"/api/loops/{key()}"
    shown = client.get(f"{base}/commands").data
    assert ("echo one\necho two" in shown["commands"], shown["accepted"]) == (True, False)
    assert client.post(f"{base}/accept", {"digest": "0" * 12}).status == 409
    assert client.get(f"{base}/commands").data["accepted"] is False
    assert client.post(f"{base}/accept", {"digest": shown["digest"]}).status == 200
    assert client.get(f"{base}/commands").data["accepted"] is True


def judged(tmp_path: Path) -> Path:
    project = tmp_path / "r"
    project.mkdir()
    new_repository(project)
    path = write_accepted(project, done_but_judged(NICE))
    register(str(path))
    return path


def test_an_assertion_that_is_confirmed_completes_the_loop(client: Client, tmp_path: Path) -> None:
    path, base = judged(tmp_path), f"/api/loops/{key()}"
    subject = client.get(f"{base}/base-case").data["subject"]
    done = client.post(f"{base}/confirm", {**subject, "confirmed": ["nice"]})
    assert (done.status, done.data.get("completed")) == (200, True), done.body
    assert loop_at(path).control.status == "completed"


def test_a_confirmation_of_another_objective_does_not_count(client: Client, tmp_path: Path) -> None:
    path, base = judged(tmp_path), f"/api/loops/{key()}"
    answer = client.post(f"{base}/confirm", {"objective_digest": "other", "commit": None, "confirmed": ["nice"]})
    assert answer.status == 422
    assert loop_at(path).control.status == "stopped"


def test_a_rejection_becomes_new_work(client: Client, tmp_path: Path) -> None:
    path, base = judged(tmp_path), f"/api/loops/{key()}"
    subject = client.get(f"{base}/base-case").data["subject"]
    done = client.post(f"{base}/confirm", {**subject, "rejected": {"nice": "it is ugly"}})
    assert done.status == 200, done.body
    assert len(loop_at(path).atoms) > 1


def test_a_person_accepts_or_dismisses_what_a_session_proposes(client: Client, path: Path) -> None:
    store = Store(str(path))
    tea, _ = propose(store, Wishes(add=Addition(description="<b>tea</b>"), reason="thirst"), "a client")
    other, _ = propose(store, Wishes(limits=("max_iterations=77",), reason="more"), "a client")
    where = f"/api/loops/{key()}"
    names = {one["name"] for one in client.get(f"{where}/proposals").data["proposals"]}
    assert names == {tea.name, other.name}
    assert client.post(f"{where}/adopt", {"name": "0" * 12}).status == 422
    assert client.post(f"{where}/dismiss", {"name": other.name}).status == 200
    assert client.post(f"{where}/adopt", {"name": tea.name}).status == 200
    assert [one.description for one in loop_at(path).atoms][-1] == "<b>tea</b>"
    assert client.get(f"{where}/proposals").data["proposals"] == []
