"""`aot align` without a dialogue: from files, with --yes; and what it refuses, and why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aotloop.core.model import Binding, Loop
from aotloop.statefile.store import Store
from aotloop.trust.accepted_commands import is_trusted
from aotloop.trust.objectives import agreed
from tests.cli.terminal import aot, spawn
from tests.holders import held_by_another
from tests.loops import a_loop, atom, write_loop
from tests.runner.projects import Project

OBJECTIVE = """\
goal: A greeter
background_intent: Guests should feel welcome
deliverables: greet.sh and a README
definition_of_done: It says hello
base_case:
  checklist:
    - {item: says hello, check: {type: command, value: "sh greet.sh | grep -q hello"}}
    - {item: readme, check: {type: file, value: README}}
"""
ATOMS = """\
atoms:
  - {description: Write the README, run: "echo 'sh greet.sh' > README"}
  - {id: X, description: With banner, or_group: script, run: "no-such-banner hello > greet.sh"}
  - {id: Y, description: With echo, or_group: script, run: "echo 'echo hello' > greet.sh"}
  - {id: Z, description: Make it executable, depends_on: [X], run: "chmod +x greet.sh"}
"""
STATE_FILE = Path(".claude") / "aot-loop-state.md"


def loop_now() -> Loop:
    return Store(str(STATE_FILE)).load()


@pytest.fixture
def file(project: Path) -> str:
    (project / "objective.yaml").write_text(OBJECTIVE + ATOMS)
    return "objective.yaml"


# --- a new loop --------------------------------------------------------------------------------------------------


def test_what_a_file_says_is_agreed_on_and_its_base_case_is_run_first(file: str) -> None:
    ran = aot("align", "--yes", "-f", file)
    assert (ran.code, ran.out) == (0, f"✔ agreed: {STATE_FILE}, 4 atoms\n")
    assert ran.err == "The base case fails now, as it should before the work.\nNext: aot gate  ·  aot run\n"
    loop = loop_now()
    assert (loop.objective.goal, loop.control.status) == ("A greeter", "pending")
    assert [one.id for one in loop.atoms] == ["A1", "X", "Y", "Z"]
    assert loop.or_groups["script"].choices == ("X", "Y")
    assert agreed(str(STATE_FILE)) == loop.objective
    assert aot("validate").code == 0
    assert aot("gate").code == 0  # nobody is asked about the commands again: who agreed has accepted them


def test_what_already_holds_is_told(file: str, project: Path) -> None:
    (project / "README").touch()
    ran = aot("align", "--yes", "-f", file)
    assert ran.code == 0
    assert "? readme: already holds; it may prove nothing" in ran.err
    STATE_FILE.unlink()
    told = aot("align", "--yes", "-f", file, "--json")
    assert told.err == ""
    data = told.json
    assert (data["success"], data["new"], data["atoms"]) == (True, True, ["A1", "X", "Y", "Z"])
    assert data["already_holding"] == ["readme: already holds; it may prove nothing"]
    assert [item["passed"] for item in data["base_case"]["checklist"]] == [False, True]


def test_a_protected_glob_that_matches_nothing_is_told(project: Path) -> None:
    (project / "there.txt").write_text("x")
    (project / "o.yaml").write_text(OBJECTIVE + 'protect: ["tset/**", "*.txt"]\n')
    ran = aot("align", "--yes", "-f", "o.yaml")
    assert ran.code == 0
    assert "No file matches tset/** now; it protects files that come later." in ran.err
    assert "*.txt" not in ran.err
    assert any("tset/**" in one for one in aot("gate", "--yes", "--json").json["warnings"])


def test_the_base_case_need_not_be_run(file: str, project: Path) -> None:
    text = (project / file).read_text().replace("sh greet.sh |", "touch ran; sh greet.sh |")
    (project / file).write_text(text)
    ran = aot("align", "--yes", "-f", file, "--no-run")
    assert ran.code == 0
    assert "The base case was not run: as you asked." in ran.err
    assert not (project / "ran").exists()


def test_a_command_that_is_not_there_is_told(project: Path) -> None:
    (project / "o.yaml").write_text(OBJECTIVE.replace("sh greet.sh | grep -q hello", "no-such-command"))
    ran = aot("align", "--yes", "-f", "o.yaml")
    assert "? says hello: exit 127 after" in ran.err


def test_it_can_come_from_standard_input_and_go_elsewhere(project: Path) -> None:
    ran = spawn("align", "--yes", "-f", "-", "--state-file", "loops/one.md", input=OBJECTIVE.encode(), stdin=None)
    assert (ran.code, ran.out) == (0, "✔ agreed: loops/one.md, 1 atom\n")
    assert "Next: aot gate --state-file loops/one.md" in ran.err
    assert (project / "loops" / "one.md").exists()


def test_the_words_that_it_began_with_are_kept(project: Path) -> None:
    (project / "plan.md").write_text("# Shop\n\nA shop for all.\n\n- [ ] Shelves\n")
    (project / "o.yaml").write_text(OBJECTIVE)
    assert aot("align", "--yes", "-f", "o.yaml", "--from", "plan.md").code == 0
    assert STATE_FILE.read_text().endswith("# Original Prompt\n\nShop\n\nA shop for all.\n")


# --- imports -----------------------------------------------------------------------------------------------------

PLANS: dict[str, Any] = {
    "fix_plan.md": "- [ ] T1 Shelves\n- [x] T0 Ground\n- [ ] T2 Goods (after T1, T0)\n",
    "prd.json": {
        "userStories": [
            {"id": "T1", "title": "Shelves", "passes": False, "acceptanceCriteria": ["touch danger"]},
            {"id": "T0", "title": "Ground", "passes": True},
            {"id": "T2", "title": "Goods", "dependencies": ["T1", "T0"]},
        ]
    },
    "tasks.json": {
        "master": {
            "tasks": [
                {"id": 1, "title": "Shelves", "testStrategy": "touch danger"},
                {"id": 0, "title": "Ground", "status": "done"},
                {"id": 2, "title": "Goods", "dependencies": [1, 0]},
            ]
        }
    },
}


@pytest.mark.parametrize("name", PLANS)
def test_work_is_imported_below_an_objective(project: Path, name: str) -> None:
    content = PLANS[name] if isinstance(PLANS[name], str) else json.dumps(PLANS[name])
    (project / name).write_text(content)
    (project / "o.yaml").write_text(OBJECTIVE)
    ran = aot("align", "--yes", "-f", "o.yaml", "--from", name)
    assert ran.code == 0
    assert "1 piece of finished work left out" in ran.err
    loop = loop_now()
    assert [(one.id, one.depends_on, one.run, one.check) for one in loop.atoms] == [
        ("A1", (), None, None),
        ("A2", ("A1",), None, None),
    ]
    assert "Shelves" in loop.atoms[0].description
    assert not is_trusted(str(STATE_FILE), ["touch danger"])
    assert loop.objective.definition_of_done == "It says hello"


def test_an_import_alone_lacks_what_only_a_person_can_say(project: Path) -> None:
    (project / "prd.json").write_text(json.dumps({**PLANS["prd.json"], "description": "A shop"}))
    ran = aot("align", "--yes", "--from", "prd.json")
    assert ran.code == 3
    assert "missing: objective.base_case, objective.background_intent, objective.deliverables" in ran.err
    assert "objective.goal" not in ran.err
    assert not STATE_FILE.exists()


def test_tags_and_warnings(project: Path) -> None:
    tasks = {
        "a": {"tasks": []},
        "b": {"tasks": [{"id": 1, "title": "x"}, {"id": 2, "title": "y", "status": "cancelled"}]},
    }
    (project / "tasks.json").write_text(json.dumps(tasks))
    (project / "o.yaml").write_text(OBJECTIVE)
    assert "Say which one with --tag." in aot("align", "--yes", "-f", "o.yaml", "--from", "tasks.json").err
    ran = aot("align", "--yes", "-f", "o.yaml", "--from", "tasks.json", "--tag", "b", "--json")
    assert ran.json["warnings"] == ["tasks[1]: 2 is cancelled, and left out"]


# --- again -------------------------------------------------------------------------------------------------------


def test_a_loop_is_aligned_again_from_a_part_of_an_objective(project: Path) -> None:
    loop = a_loop(atom("A1", status="resolved"), atom("A2", "A1"), status="completed", command="true")
    write_loop(project, loop)
    (project / "o.yaml").write_text("goal: More\natoms:\n  - {id: A1, description: do A1}\n  - description: new\n")
    ran = aot("align", "--yes", "-f", "o.yaml")
    assert (ran.code, ran.out) == (0, f"✔ aligned again: {STATE_FILE}, 2 atoms; done already: A1\n")
    assert "The base case already holds: there is nothing to do, or it proves nothing." in ran.err
    now = loop_now()
    assert (now.control.status, now.objective.goal, now.objective.deliverables) == ("pending", "More", "code")
    assert [(one.id, one.status) for one in now.atoms] == [("A1", "resolved"), ("A3", "pending")]
    assert now.bindings == {"A1": Binding(summary="did A1")}
    assert now.corrections[-1].type == "objective_change"
    assert aot("align", "--yes", "-f", "o.yaml").out == f"✔ {STATE_FILE} is already like this; nothing was changed\n"


def test_a_list_that_has_grown_is_imported_again(project: Path) -> None:
    (project / "o.yaml").write_text(OBJECTIVE)
    (project / "plan.md").write_text("# A heading\n\n- [ ] one\n- [ ] two\n")
    assert aot("align", "--yes", "-f", "o.yaml", "--from", "plan.md").code == 0
    assert aot("atom", "start", "A2").code == 0
    assert aot("atom", "resolve", "A2", "--summary", "did two").code == 0
    (project / "plan.md").write_text("# A heading\n\n- [ ] new\n- [x] one\n- [ ] two\n")
    ran = aot("align", "--yes", "--from", "plan.md")
    assert ran.out == f"✔ aligned again: {STATE_FILE}, 2 atoms; done already: A2\n"
    loop = loop_now()
    assert [(one.id, one.description, one.status) for one in loop.atoms] == [
        ("A3", "new", "pending"),
        ("A2", "two", "resolved"),
    ]
    assert loop.objective.goal == "A greeter"


def test_it_is_found_from_a_folder_below(file: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert aot("align", "--yes", "-f", file).code == 0
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    assert "is already like this" in aot("align", "--yes", "-f", f"../{file}").out


def test_while_a_run_holds_the_file_it_is_refused(file: str, project: Path) -> None:
    write_loop(project, a_loop(atom("A1")))
    before = STATE_FILE.read_bytes()
    with held_by_another(STATE_FILE.resolve()) as runner:
        ran = aot("align", "--yes", "-f", file)
    assert ran.code == 3
    assert f"process {runner.pid} runs this loop" in ran.err
    assert "`aot redirect` changes its direction" in ran.err
    assert STATE_FILE.read_bytes() == before


# --- what is refused ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [[], ["Log in"], ["-f", "objective.yaml"], ["--json", "-f", "objective.yaml"]])
def test_without_anybody_to_agree_it_says_what_to_do(file: str, words: list[str]) -> None:
    ran = spawn("align", *words)
    assert ran.code == 2
    assert "No person can be asked to agree. Use --yes with -f FILE to agree to a file" in ran.err
    assert not STATE_FILE.exists(), file


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--yes"], 3, "missing: objective.base_case, objective.goal"),
        (["--yes", "Log in"], 3, "missing: objective.base_case"),
        (["--yes", "x", "-f", "objective.yaml"], 2, "PROMPT and -f both give the objective"),
        (["--yes", "-f", "nowhere.yaml"], 2, "nowhere.yaml"),
        (["--yes", "-f", "objective.yaml", "--from", "plan.md"], 2, "-f and --from both contain atoms"),
        (["--yes", "--tag", "a"], 2, "add --from to name the file"),
        (["--yes", "--agent", "a", "--no-agent"], 2, "contradict"),
        (["--yes", "-f", "groups.yaml"], 2, "groups or decompositions, but no atoms"),
        (["--yes", "-f", "bad.yaml"], 3, "bad.yaml: line 1, column 7: gaol: unknown key; did you mean goal?"),
        (["--yes", "--from", "empty.md"], 3, "empty.md: there is nothing in it"),
        (["--yes", "-f", "."], 2, "."),
        (["--yes", ""], 2, "blank"),
    ],
)
def test_what_makes_no_sense_writes_nothing(file: str, project: Path, words: list[str], code: int, told: str) -> None:
    (project / "plan.md").write_text("- [ ] a\n")
    (project / "bad.yaml").write_text("gaol: x\n")
    (project / "groups.yaml").write_text("or_groups: {g: {choices: [A]}}\n")
    (project / "empty.md").write_text("")
    ran = aot("align", *words)
    assert ran.code == code, file
    assert told in ran.err
    assert not STATE_FILE.exists()


def test_an_invalid_state_file_is_not_aligned_over(file: str, project: Path) -> None:
    STATE_FILE.write_text("---\nobjective: [\n---\n")
    ran = aot("align", "--yes", "-f", file)
    assert ran.code == 3
    assert STATE_FILE.read_text() == "---\nobjective: [\n---\n", project


# --- the whole way -----------------------------------------------------------------------------------------------


def test_from_a_file_to_a_verified_end(tmp_path: Path) -> None:
    project = Project(tmp_path)
    (tmp_path / "objective.yaml").write_text(OBJECTIVE + ATOMS)
    project.git("init", "--quiet", "--initial-branch=main")
    project.git("config", "user.name", "A Person")
    project.git("config", "user.email", "person@example.org")
    project.git("add", "--all")
    project.git("commit", "--quiet", "--message=the beginning")
    aligned = project.aot("align", "--yes", "-f", "objective.yaml")
    assert aligned.code == 0, aligned.err
    ran = project.run()
    assert ran.code == 0, ran.err
    assert project.loop.control.status == "completed"
    assert project.statuses() == {"A1": "resolved", "X": "pending", "Y": "resolved", "Z": "resolved"}
    assert project.files() == {"objective.yaml", "README", "greet.sh"}
    (tmp_path / "more.yaml").write_text("goal: A louder greeter\nbase_case: {type: file, value: LOUD}\n")
    again = project.aot("align", "--yes", "-f", "more.yaml", "--json")
    assert json.loads(again.out)["kept"] == ["A1", "Y", "Z"]
    (tmp_path / "more.yaml").unlink()
    assert project.aot("atom", "add", "loud", "--run", "touch LOUD").code == 0
    ran = project.run()
    assert ran.code == 0, ran.err
    assert "LOUD" in project.files()
