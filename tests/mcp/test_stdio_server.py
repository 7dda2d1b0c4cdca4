"""The SDK's own client sees loops and steers them over stdio; what only a person decides, no tool does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.types import TextContent, TextResourceContents

from aotloop.app.redirect.proposals import accept_proposal, dismiss_proposal, proposals_of, propose
from aotloop.app.redirect.wishes import Wishes
from aotloop.core.model import AtomCheck
from aotloop.errors import AotError, NotTrusted
from aotloop.process.ancestry import OF_A_CLIENT
from aotloop.statefile.store import Store
from mcp import Client
from tests.loops import a_loop, atom, write_accepted
from tests.mcp.sessions import called, in_session, refused
from tests.runner.projects import Project, a_project

SECRET = "hunter2-is-no-password"

TOOLS = {
    "list_loops",
    "status",
    "graph",
    "atom",
    "log",
    "transcript",
    "verify_base_case",
    "request_to_stop",
    "propose_correction",
    "add_atom_to_draft",
}


@pytest.fixture
def ran(tmp_path: Path) -> Project:
    """One atom landed; the other failed as often as it may."""
    project = a_project(
        tmp_path,
        atom("A1", run=f"echo {SECRET}; echo hi > a.txt", check=AtomCheck(type="command", value="cat a.txt")),
        atom("A2", "A1", run="echo sorry; false"),
        base_case="test -f b.txt",
    )
    assert project.run("--max-total-attempts", "3").code != 0
    return project


def test_a_session_looks_at_everything(ran: Project) -> None:
    async def talk(client: Client) -> None:
        listed = await client.list_tools()
        assert {tool.name for tool in listed.tools} == TOOLS
        for tool in listed.tools:
            assert tool.description
            assert tool.input_schema["type"] == "object"
            assert all(one.get("description") for one in tool.input_schema["properties"].values()), tool.name
            assert not any(word in tool.name for word in ("confirm", "accept", "force", "approve"))
        (row,) = (await called(client, "list_loops"))["loops"]
        for key in ("", row["key"]):
            status = await called(client, "status", loop=key)
            assert (status["head"]["goal"], status["atoms_in_all"]) == ("It works", 2)
        assert "A2" in (await called(client, "graph", form="mermaid"))["graph"]
        shown = await called(client, "atom", name="A2")
        assert "sorry" in shown["fates"]["A2#1"]
        log = await called(client, "log", last=200)
        assert {"resolved", "failure"} <= {entry["kind"] for entry in log["entries"]}
        steps = (await called(client, "transcript", attempt="A1#1"))["steps"]
        assert SECRET not in json.dumps(steps)
        assert "[secret]" in json.dumps(steps)
        assert "no atom" in (await refused(client, "atom", name="nope")).lower()
        assert "list_loops" in await refused(client, "status", loop="../../etc/passwd")
        problem = await refused(client, "atom", name=f"{SECRET} {'x' * 300_000}")
        assert SECRET not in problem
        assert len(problem) < 30_000

    in_session(ran.root, talk, DEPLOY_TOKEN=SECRET)


def test_resources_and_prompts_are_there(ran: Project) -> None:
    async def talk(client: Client) -> dict[str, str]:
        found = {}
        for resource in (await client.list_resources()).resources:
            (content,) = (await client.read_resource(str(resource.uri))).contents
            assert isinstance(content, TextResourceContents)
            found[str(resource.uri)] = content.text
        asked = await client.get_prompt("align", {"wish": "tea"})
        (message,) = asked.messages
        assert isinstance(message.content, TextContent)
        return {**found, "align": message.content.text}

    found = in_session(ran.root, talk, DEPLOY_TOKEN=SECRET)
    assert "goal:" in found["aot://loop/state"]
    assert found["aot://loop/graph.svg"].startswith("<svg")
    assert found["aot://loop/report.html"].startswith("<!DOCTYPE html>")
    assert "What was done" in found["aot://loop/report.md"]
    assert found["align"].startswith("The person wants: tea\n\n# Align on a goal")
    assert not any(SECRET in text for text in found.values())


def test_only_accepted_commands_are_run(ran: Project) -> None:
    async def verified(client: Client) -> bool:
        return bool((await called(client, "verify_base_case"))["passed"])

    assert in_session(ran.root, verified) is False
    state = ran.state_file.read_text()
    ran.state_file.write_text(state.replace("test -f b.txt", "touch b.txt"))

    async def tried(client: Client) -> str:
        return await refused(client, "verify_base_case")

    assert "not accepted" in in_session(ran.root, tried)
    assert not (ran.root / "b.txt").exists()


def test_a_proposal_changes_nothing_until_a_person_accepts_it(ran: Project) -> None:
    before = ran.state_file.read_bytes()

    async def talk(client: Client) -> list[str]:
        first = await called(client, "propose_correction", reason="it needs tea", add="Make tea", add_after=["A1"])
        again = await called(client, "propose_correction", reason="it needs tea", add="Make tea", add_after=["A1"])
        assert first["proposal"] == again["proposal"]
        other = await called(client, "propose_correction", reason="more", limits=["max_iterations=77"])
        assert "changes nothing" in await refused(client, "propose_correction", reason="nothing")
        assert "no atom" in (await refused(client, "propose_correction", reason="x", retry=["nope"])).lower()
        assert "has begun" in await refused(client, "add_atom_to_draft", description="x")
        assert len((await called(client, "status"))["proposals"]) == 2
        return [first["proposal"], other["proposal"]]

    tea, limits = in_session(ran.root, talk)
    assert ran.state_file.read_bytes() == before
    assert "Make tea" in ran.aot("proposal").out
    refusal = ran.aot("proposal", tea, "--accept")
    assert (refusal.code != 0, "at a terminal" in refusal.err) == (True, True)
    store = Store(str(ran.state_file))
    dismiss_proposal(store, limits)
    accept_proposal(store, tea)
    assert [one.description for one in ran.loop.atoms][-1] == "Make tea"
    assert proposals_of(store) == []


def test_an_agent_in_an_attempt_accepts_nothing(ran: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    ran.environ["AOT_RUN_ID"] = "1"
    refused_start = ran.aot("mcp")
    assert (refused_start.code, "attempt" in refused_start.err) == (1, True)
    monkeypatch.setenv("AOT_RUN_ID", "1")
    with pytest.raises(AotError, match="only a person"):
        accept_proposal(Store(str(ran.state_file)), "0")


@pytest.mark.parametrize("decide", [accept_proposal, dismiss_proposal])
@pytest.mark.parametrize("name", OF_A_CLIENT)
def test_the_agent_of_a_session_decides_nothing_about_proposals(
    tmp_path: Path, decide: Callable[[Store, str], object], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not that session drives the loop: it may have made the proposal."""
    store = Store(str(write_accepted(tmp_path, a_loop(atom("A1"), status="stopped"))))
    proposal, _ = propose(store, Wishes(retry=("A1",)), "a client")
    monkeypatch.setenv(name, "1")
    with pytest.raises(NotTrusted, match="only a person"):
        decide(store, proposal.name)
    assert (len(proposals_of(store)), store.load().corrections) == (1, [])


CORRECTIONS: dict[str, dict[str, object]] = {
    "words": {"goal": "another goal"},
    "limits": {"limits": ["max_iterations=40"]},
    "add": {"add": "more", "add_after": ["A1"]},
    "remove": {"remove": ["C1"]},
    "choose": {"choose": ["G=B2"]},
    "summaries": {"results": ["A1=something else"]},
    "retry": {"retry": ["C1"]},
}


def test_every_correction_can_be_proposed_and_a_stop_requested(tmp_path: Path) -> None:
    atoms = [
        atom("A1", status="resolved"),
        atom("B1", "A1", or_group="G"),
        atom("B2", "A1", or_group="G"),
        atom("C1", "B1"),
    ]
    store = Store(str(write_accepted(tmp_path, a_loop(*atoms, status="running"))))

    async def talk(client: Client) -> None:
        for wish in CORRECTIONS.values():
            await called(client, "propose_correction", reason="because", **wish)
        assert "GROUP=ATOM" in await refused(client, "propose_correction", reason="x", choose=["B2"])
        assert (await called(client, "request_to_stop", reason="lunch"))["asked"] is True

    in_session(tmp_path, talk)
    proposed = [one.wishes for one in proposals_of(store)]
    assert len(proposed) == len(CORRECTIONS)
    assert all(any(getattr(one, name) for one in proposed) for name in CORRECTIONS)
    loop = store.load()
    assert (loop.control.stop_requested, loop.corrections) == (True, [])


def test_a_session_adds_atoms_to_a_draft(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"))

    async def talk(client: Client) -> str:
        assert "nothing to stop" in await refused(client, "request_to_stop", reason="why not")
        return str((await called(client, "add_atom_to_draft", description="Make tea", after=["A1"]))["added"])

    added = in_session(project.root, talk)
    assert (project.atom(added).description, project.atom(added).depends_on) == ("Make tea", ("A1",))
