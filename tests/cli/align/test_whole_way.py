"""From a sentence to a verified end, with a real client as planner and as worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.align.talking import AGREE, LETTER
from tests.cli.terminal import terminal
from tests.modelserver import Answer, ModelServer, Script
from tests.modelserver.operators import DONE, config_of, each_client, environ_of, shell
from tests.runner.projects import Project

ATOM: dict[str, Any] = {"depends_on": [], "or_group": None, "touches": [], "estimate": None, "covers": ["says hello"]}
PLAN: dict[str, Any] = {
    "goal": "A greeter",
    "background_intent": "Guests should feel welcome",
    "deliverables": "greet.sh and a README",
    "definition_of_done": "It says hello, and how to use it is written down",
    "checklist": [
        {"item": "says hello", "type": "command", "value": "sh greet.sh | grep -q hello"},
        {"item": "readme", "type": "file", "value": "README"},
    ],
    "protect": [],
    "atoms": [
        {**ATOM, "name": "script", "description": "Write greet.sh"},
        {**ATOM, "name": "readme", "description": "Write README", "depends_on": ["script"], "covers": ["readme"]},
    ],
}
CONSENT = ("Accept them, now and until they change? [y/N] ", "y")
QUESTION = {"questions": [{"question": "In which words?", "choices": ["hello", "good morning"]}], "plan": None}


@each_client
def test_a_client_plans_and_does_the_work(tmp_path: Path, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = [
        Script("its atom A1", [shell(client, "echo 'echo hello' > greet.sh"), DONE]),
        Script("its atom A2", [shell(client, "echo 'sh greet.sh' > README"), DONE]),
        Script("In which words", [Answer({"questions": [], "plan": PLAN})]),
        Script("Greet people", [Answer(QUESTION)]),
    ]
    project = Project(tmp_path / "project")
    project.root.mkdir()
    monkeypatch.chdir(project.root)
    (project.root / "aot.toml").write_text(config_of(client))
    for words in (["init", "-q"], ["config", "user.name", "A Person"], ["config", "user.email", "person@example.org"]):
        project.git(*words)
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=the beginning")
    with ModelServer(scripts) as server:
        project.environ = environ_of(client, server)
        with terminal("align", "Greet people", columns=120, environ=project.environ) as screen:
            screen.answer(CONSENT, ("In which words?…) > ", "1"))
            screen.answer(("How many dollars may the loop cost at most?…(Enter: no limit) > ", ""), (LETTER, AGREE))
            assert screen.end() == 0, screen.text
        ran = project.aot("run", "--json")  # without --yes: all of it was accepted before
        assert server.lost == []
    assert ran.code == 0, ran.out + ran.err
    assert project.loop.control.status == "completed"
    assert project.files() == {"aot.toml", "greet.sh", "README"}
