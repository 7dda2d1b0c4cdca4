"""`aot init` makes a file that is valid, says what is missing from it, and holds exactly what was typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.statefile.store import Store
from tests.cli.terminal import aot, spawn

STATE_FILE = Path(".claude", "aot-loop-state.md")

HOSTILE = [
    'He said "yes": it\'s done',
    "key: [value, {a: b}] # no comment",
    "one\ntwo\n\n  three",
    "---",
    "before\n---\nobjective: stolen\n---\n",
    "ログイン機能 — é 😀",
    "- *anchor &alias !tag | > % @ `x`",
    "\\n is not a line break, \\ neither",
    "tab\there, \x1b[31mred\x1b[0m and \x7f",
    "yes",
    "null",
    "{goal} {0} %s $HOME",
    " blanks around ",
]


def fill_in(path: Path = STATE_FILE) -> None:
    text = path.read_text(encoding="utf-8")
    for name in ("background_intent", "deliverables", "definition_of_done"):
        text = text.replace(f'{name}: ""', f'{name}: "agreed"')
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("form", ["checklist", "legacy"])
@pytest.mark.parametrize("commands", [(), ("make test",)])
def test_a_new_file_is_valid(project: Path, form: str, commands: tuple[str, ...]) -> None:
    options = [word for command in commands for word in ("--command", command)]
    assert aot("init", "--goal", "It works", "--format", form, *options).code == 0
    validated = aot("validate", "--json")
    assert validated.json == {"valid": True, "errors": [], "warnings": [], "atom_count": 1}
    assert (project / STATE_FILE).is_file()


@pytest.mark.usefixtures("project")
def test_the_gate_says_what_is_missing_and_filled_in_the_file_is_ready() -> None:
    aot("init", "--command", "test -f done.txt")
    shut = aot("gate", "--json")
    assert shut.code == 1
    assert shut.json["missing"] == [
        "objective.goal",
        "objective.background_intent",
        "objective.deliverables",
        "objective.definition_of_done",
    ]
    aot("init", "--goal", "It works", "--command", "test -f done.txt", "--force")
    fill_in()
    opened = aot("gate", "--json")
    assert opened.code == 0
    assert opened.json["ready"] is True
    assert opened.json["base_case"]["passed"] is False


@pytest.mark.usefixtures("project")
def test_the_placeholder_of_a_file_without_commands_fails_when_it_is_run() -> None:
    aot("init", "--goal", "It works")
    assert aot("verify").code == 1


@pytest.mark.usefixtures("project")
def test_every_command_becomes_an_item_of_the_checklist() -> None:
    aot("init", "--command", "make test", "--command", "make lint")
    checklist = Store(str(STATE_FILE)).load().objective.base_case.checklist or ()
    assert [item.check.value for item in checklist if item.check is not None] == ["make test", "make lint"]


@pytest.mark.usefixtures("project")
def test_the_legacy_form_is_one_single_check() -> None:
    aot("init", "--format", "legacy", "--command", "make test")
    base_case = Store(str(STATE_FILE)).load().objective.base_case
    assert (base_case.type, base_case.value, base_case.checklist) == ("command", "make test", None)


@pytest.mark.usefixtures("project")
def test_the_legacy_form_refuses_a_second_command() -> None:
    ran = aot("init", "--format", "legacy", "--command", "a", "--command", "b")
    assert ran.code == 2
    assert "one single command" in ran.err
    assert not STATE_FILE.exists()


@pytest.mark.usefixtures("project")
def test_an_existing_file_is_replaced_only_by_force() -> None:
    aot("init", "--goal", "first")
    before = STATE_FILE.read_bytes()
    refused = aot("init", "--goal", "second")
    assert refused.code == 1
    assert "exists already" in refused.err
    assert "--force" in refused.err
    assert STATE_FILE.read_bytes() == before
    assert aot("init", "--goal", "second", "--force").code == 0
    assert Store(str(STATE_FILE)).load().objective.goal == "second"


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_was_typed_is_read_back_unchanged(project: Path, text: str) -> None:
    ran = aot("init", "--goal", text, "--command", text)
    assert ran.code == 0, ran.err
    loop = Store(str(project / STATE_FILE)).load()
    assert loop.objective.goal == text
    assert loop.atoms[0].description == text
    checklist = loop.objective.base_case.checklist or ()
    assert [item.check.value for item in checklist if item.check is not None] == [text]
    assert aot("validate").code == 0
    assert (project / STATE_FILE).read_text(encoding="utf-8").endswith(f"{text.strip()}\n")


@pytest.mark.usefixtures("project")
def test_the_request_is_kept_below_the_yaml() -> None:
    Path("request.md").write_text("Please add a login.\n\n---\n\nThank you, Zoë.\n", encoding="utf-8")
    aot("init", "--goal", "Login", "--prompt", "request.md")
    text = STATE_FILE.read_text(encoding="utf-8")
    assert text.endswith("# Original Prompt\n\nPlease add a login.\n\n---\n\nThank you, Zoë.\n")
    assert aot("validate").code == 0


@pytest.mark.usefixtures("project")
def test_the_request_is_read_from_standard_input() -> None:
    ran = spawn("init", "--prompt", "-", input=b"Please add a login.\n", stdin=None)
    assert ran.code == 0, ran.err
    assert STATE_FILE.read_text(encoding="utf-8").endswith("\n\nPlease add a login.\n")


@pytest.mark.usefixtures("project")
def test_a_request_that_is_not_text_is_refused() -> None:
    Path("request.md").write_bytes(b"\xff\xfe\x00")
    ran = aot("init", "--prompt", "request.md")
    assert ran.code == 2
    assert "not valid UTF-8" in ran.err
    assert not STATE_FILE.exists()


def test_the_file_can_lie_elsewhere(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aot("init", "--state-file", "deep/in/loop.md", "--json").json["state_file"] == str(
        project / "deep/in/loop.md"
    )
    assert (project / "deep/in/loop.md").is_file()
    monkeypatch.setenv("AOT_STATE_FILE", "named.md")
    assert aot("init").code == 0
    assert (project / "named.md").is_file()
    assert not (project / STATE_FILE).exists()


@pytest.mark.usefixtures("project")
def test_the_next_steps_are_told_on_standard_error() -> None:
    ran = aot("init")
    assert ran.out == "✔ made .claude/aot-loop-state.md\n"
    assert ran.err == "Next: fill in .claude/aot-loop-state.md  ·  aot validate  ·  aot gate\n"
