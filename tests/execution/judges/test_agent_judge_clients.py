"""The real clients as judges, with the scripted model: they answer by the schema, cannot write, hear no boasting."""

from __future__ import annotations

from pathlib import Path

from aotloop.agents.answers.answer_schema import schema
from tests.execution.judges.jurors import assertion, command, judged, quality, remembered, score, warnings
from tests.loops import atom
from tests.modelserver import Answer, Call, ModelServer, Script
from tests.modelserver.operators import config_of, each_client, environ_of, most_clients, shell, write
from tests.runner.agents import done, scripted
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

ITEM = "It reads well"
BOAST = "flawless-in-every-respect"
SCORES = Answer({"scores": [score("clarity", 4), score("depth", 3)]})


def project_with(folder: Path, client: str, server: ModelServer) -> Project:
    """The work is done by a program that praises itself, and judged by the client."""
    judging = config_of(client).replace("agent =", "[roles.judge]\nagent =")
    config = scripted(folder, {"A1": [done({"a.txt": "a\n"}, summary=BOAST)]}) + judging
    config += f'[roles.verifier]\nagent = "{client}"\n'
    items = judged(command("a", "test -f a.txt"), quality(ITEM, clarity=0.5, depth=0.5))
    more = environ_of(client, server, AOT_CONFINE="off")
    return a_project(folder, atom("A1"), base_case=items, config=config, environ=more)


def heard(server: ModelServer) -> bytes:
    assert server.elsewhere == []
    return b"".join(one.body for one in server.requests)


@most_clients
def test_a_client_judges_by_the_schema_and_sees_nothing_of_what_the_worker_claims(tmp_path: Path, client: str) -> None:
    looks: list[Call] = [
        shell(client, one) for one in ("cat README.md", "ls -a . .claude", "cat .claude/aot-loop-state.md", "git log")
    ]
    with ModelServer([Script("You judge the quality", [*looks, SCORES])]) as server:
        project = project_with(tmp_path, client, server)
        ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert server.lost == []
    assert project.loop.bindings["A1"].summary == BOAST
    assert BOAST.encode() not in heard(server)
    verdict = project.loop.control.verdict
    assert verdict is not None
    assert verdict.scores == {ITEM: {"clarity": 4.0, "depth": 3.0}}
    if client != "opencode":  # which is not held to a schema
        assert server.played[0].exchange.schema == schema("judge")
        (counted,) = server.usage.values()
        assert project.loop.control.used.output == counted.output
    assert leftovers(project) == []


@each_client
def test_a_client_that_is_told_to_write_while_it_judges_is_refused(tmp_path: Path, client: str) -> None:
    root = tmp_path / "project"
    attacks = [write(client, root / "README.md", "x"), shell(client, "echo x > b.txt"), shell(client, "rm README.md")]
    with ModelServer([Script("You judge the quality", [*attacks, SCORES])]) as server:
        project = project_with(tmp_path, client, server)
        ran = project.run()
    assert ran.code == 0, ran.out + ran.err  # had anything been changed, the judgement would be void
    assert server.lost == []
    assert project.is_clean()
    assert (root / "README.md").read_text() == "a project\n"


@most_clients
def test_a_client_finds_something_so_and_a_person_confirms_it(tmp_path: Path, client: str) -> None:
    found = Answer({"passed": True, "evidence": "README.md says so", "failures": []})
    with ModelServer([Script("You judge whether", [shell(client, "cat README.md"), found])]) as server:
        config = config_of(client)
        more = environ_of(client, server)
        items = judged(command("a", "test -f a.txt"), assertion("It is so", "the README is fine"))
        project = a_project(tmp_path, atom("A1", run="echo a > a.txt"), base_case=items, config=config, environ=more)
        ran = project.run()
    assert ran.code == 6, ran.out + ran.err
    assert server.lost == []
    said = "an agent says yes: README.md says so; waits for a person's confirmation"
    assert f"undecided: It is so: {said}" in warnings(project)
    assert len(remembered()) == 1
    assert project.aot("confirm", "It is so", "--yes").code == 0
