"""What the plugin tells models is true: whatever it names exists, its frontmatter is honoured, no rule is left out."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from aotloop.app.session.situation import Situation
from aotloop.core.phases.model import PHASES
from aotloop.scripts.json_output import Script
from aotloop.scripts.run import MODULES

PLUGIN = Path(__file__).parents[2] / "plugin"
SKILLS = ("aot-dag", "convergence", "parallel-exec", "phase-loop", "state-contract")
COMMANDS = (
    "align-goal",
    "enter-recursion",
    "exit-recursion",
    "loop-status",
    "redirect",
    "ship",
    "ship-cancel",
    "ship-status",
)
AGENTS = ("coordinator", "probe", "verifier", "worker")
TEXTS = {str(path.relative_to(PLUGIN)): path.read_text() for path in sorted(PLUGIN.rglob("*.md"))}
SCRIPTS = {path.name: path for path in PLUGIN.glob("skills/*/scripts/*.py")}

TOOLS = {
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "NotebookEdit",
    "Read",
    "Skill",
    "TaskStop",
    "ToolSearch",
    "Write",
}
FORMER_TOOLS = {"Task", "KillShell"}
"""Names that older clients have, and today's understands: docs/development/plugin-facts.md."""
EVENTS = {
    *("SubagentStart", "SubagentStop", "Stop", "SessionStart", "PreCompact", "UserPromptSubmit", "PreToolUse"),
    "PostToolUse",
}
HONOURED = {
    "commands": {"description", "argument-hint", "allowed-tools"},
    "agents": {"name", "description", "tools", "isolation"},
    "skills": {"name", "description"},
}
LARGEST = {"commands": 3800, "agents": 7000, "skills": 7000}
"""Bytes. Codex makes a skill of a command unless it is longer; the others are read anew by every agent."""


def frontmatter(name: str) -> dict[str, Any]:
    _, head, _ = TEXTS[name].split("---\n", 2)
    read = yaml.safe_load(head)
    assert isinstance(read, dict)
    return read


def body(name: str) -> str:
    return TEXTS[name].split("---\n", 2)[2]


def kind(name: str) -> str:
    return Path(name).parts[0]


def listed(value: str) -> list[str]:
    return [word.strip() for word in value.split(", ")]


def test_everything_that_was_promised_is_there() -> None:
    named = [f"commands/{name}.md" for name in COMMANDS] + [f"agents/{name}.md" for name in AGENTS]
    assert sorted(TEXTS) == sorted([*named, *(f"skills/{name}/SKILL.md" for name in SKILLS)])


@pytest.mark.parametrize("name", TEXTS)
def test_frontmatter_has_the_keys_that_the_client_honours(name: str) -> None:
    keys = frontmatter(name)
    assert set(keys) <= HONOURED[kind(name)]
    assert all(isinstance(value, str) and value.strip() for value in keys.values())
    assert 20 < len(keys["description"]) < 500
    path = Path(name)
    if "name" in keys:
        assert keys["name"] == (path.parent.name if path.name == "SKILL.md" else path.stem)


@pytest.mark.parametrize("name", TEXTS)
def test_every_tool_that_is_named_is_one_of_the_client(name: str) -> None:
    keys = frontmatter(name)
    for key in ("tools", "allowed-tools"):
        assert {tool.partition("(")[0] for tool in listed(keys.get(key, "Read"))} <= TOOLS | FORMER_TOOLS
    in_prose = set(re.findall(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b", body(name)))
    assert in_prose <= TOOLS | FORMER_TOOLS | EVENTS


@pytest.mark.parametrize("name", TEXTS)
def test_every_script_that_is_named_exists_and_where_it_is_said_to_be(name: str) -> None:
    assert [one for one in re.findall(r"(?<![/\w])(\w+\.py)", TEXTS[name]) if one not in SCRIPTS] == []
    paths = re.findall(r"\$\{CLAUDE_PLUGIN_ROOT\}/([\w./-]+)", TEXTS[name])
    assert [path for path in paths if not (PLUGIN / path).exists()] == []
    for folder, run in re.findall(
        r"In `\$\{CLAUDE_PLUGIN_ROOT\}/(skills/[\w-]+/scripts/)`: ((?:`\w+\.py`(?:, )?)+)", TEXTS[name]
    ):
        assert [one for one in re.findall(r"\w+\.py", run) if not (PLUGIN / folder / one).exists()] == []


@pytest.mark.parametrize("name", TEXTS)
def test_every_option_that_is_named_with_a_script_is_one_it_takes(name: str) -> None:
    spans = re.findall(r"`[^`\n]*\b\w+\.py\b[^`\n]*`", body(name))
    wrong = []
    for span in spans:
        (script, *_) = re.findall(r"(\w+)\.py", span)
        wrong += [
            f"{script} {option}" for option in re.findall(r"(?<!\w)--[a-z-]+", span) if option not in options_of(script)
        ]
    assert wrong == []


def options_of(script: str) -> set[str]:
    found: Script = getattr(import_module(f"aotloop.scripts.{MODULES[script]}"), script.upper())
    return {*found.usage.options, "--help", "--state-file"}


@pytest.mark.parametrize("name", TEXTS)
def test_words_of_agents_and_people_stand_where_a_shell_runs_nothing_in_them(name: str) -> None:
    """Seen: backquotes in the summary of a worker were run as a command by the coordinator's shell."""
    assert re.findall(r'--[a-z-]+ "[^"\n]*"', TEXTS[name]) == []


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_agent_and_skill_that_is_named_exists(name: str) -> None:
    assert set(re.findall(r"/aot-loop:([\w-]+)", TEXTS[name])) <= set(COMMANDS)
    known = {*COMMANDS, *AGENTS, *SKILLS, *(f"source-command-{command}" for command in COMMANDS)}
    assert set(re.findall(r"aot-loop:([\w-]+)", TEXTS[name])) <= known
    assert set(re.findall(r"skills? `([\w-]+)`", TEXTS[name])) <= set(SKILLS)


def test_every_script_is_named_in_some_text() -> None:
    assert [script for script in SCRIPTS if not any(script in text for text in TEXTS.values())] == []
    assert [f"{script}.py" for script in MODULES if f"{script}.py" not in SCRIPTS] == []


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_finished_and_short(name: str) -> None:
    assert re.search(r"\b(TO-?DO|FIX-?ME|TBD|X{3}|lorem)\b", TEXTS[name], re.IGNORECASE) is None
    assert len(body(name).encode()) <= LARGEST[kind(name)]


@pytest.mark.parametrize("name", [f"commands/{name}.md" for name in COMMANDS])
def test_codex_can_make_a_skill_of_every_command(name: str) -> None:
    """It leaves out those with arguments, files or commands to fill in. Claude Code appends arguments by itself."""
    unsupported = r"\$ARGUMENTS|\$\d|(?<!\w)@\w|!`"
    assert re.search(unsupported, body(name)) is None


@pytest.mark.parametrize(
    "name", [*(f"commands/{name}.md" for name in COMMANDS), *(f"agents/{name}.md" for name in AGENTS)]
)
def test_no_noise_about_paths_that_begin_with_a_dollar_sign(name: str) -> None:
    """Claude Code replaces them; in Codex the hook says where the plugin is (tests/hooks/test_entry_shim.py)."""
    assert "begins with `$`" not in TEXTS[name]


def test_texts_fit_agents_that_are_started_in_the_background() -> None:
    for name in ("agents/coordinator.md", "commands/enter-recursion.md", "skills/parallel-exec/SKILL.md"):
        text = body(name)
        assert "Async agent launched" in text
        assert re.search(r"[Ee]nd your turn", text.partition("Async agent launched")[2][:200])
        assert "notified" in text
    assert "a hook refuses a second one" in body("commands/enter-recursion.md")


def test_the_coordinator_s_file_is_a_table_of_the_situations_that_the_script_tells() -> None:
    table = body("agents/coordinator.md").partition("| `situation` | do |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `")))
    assert sorted(named) == sorted(get_args(Situation))
    assert "read_state.py --brief" in body("agents/coordinator.md")


def test_aligning_repeats_no_yaml_and_agrees_by_the_name_of_the_draft() -> None:
    text = body("commands/align-goal.md")
    assert text.count("<<'YAML'") == 1
    assert "align_goal.py <draft> --try" in text
    assert "align_goal.py <draft> --agreed" in text


# --- who may do what ---------------------------------------------------------------------------------------------


def test_agents_have_the_tools_of_their_role_and_no_others() -> None:
    tools = {name: frontmatter(f"agents/{name}.md").get("tools") for name in AGENTS}
    assert set(listed(tools["coordinator"] or "")) == {"Bash", "Read", "Agent", "Task", "TaskStop", "KillShell"}
    assert listed(tools["probe"] or "") == ["Read", "Grep", "Glob"]
    assert listed(tools["verifier"] or "") == ["Bash", "Read"]
    assert tools["worker"] is None, "a worker has all of them"
    isolated = [name for name in AGENTS if frontmatter(f"agents/{name}.md").get("isolation") == "worktree"]
    assert isolated == ["worker"]


@pytest.mark.parametrize("name", [f"commands/{name}.md" for name in COMMANDS])
def test_commands_give_away_no_permission_to_run_whatever_or_to_write(name: str) -> None:
    """Scripts that run what they are given, or write what they are told was agreed on, stay with the person."""
    allowed = listed(frontmatter(name)["allowed-tools"])
    assert not {"Bash", "Write", "Edit", "NotebookEdit"} & set(allowed)
    shell = [one for one in allowed if one.startswith("Bash(")]
    named = [
        re.fullmatch(r"Bash\(python3 \$\{CLAUDE_PLUGIN_ROOT\}/(skills/[\w-]+/scripts/\w+\.py):\*\)", one)
        for one in shell
    ]
    assert all(named)
    assert not any(script in one for one in shell for script in ("verify_command", "align_goal"))


# --- every rule of the specification has its place ---------------------------------------------------------------

RULES = {
    "commands/align-goal.md": [
        "## 1. Talk",
        "## 2. Structure and show",
        "## 3. Agree",
        "*How* may stay open",
        "From vague to decidable",
        *("`goal`", "`background_intent`", "`deliverables`", "`definition_of_done`", "`base_case`"),
        *("`protect`", "`quality`", "`assertion`", "`or_group`", "`probe: true`", "`covers`", "`max_cost_usd`"),
        "nothing is written",
        "`already_holding`",
        "/aot-loop:enter-recursion accept",
    ],
    "commands/enter-recursion.md": [
        "enter_loop.py",
        "`run_in_background: false`",
        "coordinate yourself",
        "--confirmed-by-person",
        "Never answer for the person",
        "take-over",
        "never work around it",
        "--in-place",
    ],
    "commands/exit-recursion.md": ["always stops", "request_stop.py", "TaskStop", "set_status.py stopped", "are kept"],
    "commands/redirect.md": [
        *(f"\n{number}. **" for number in range(1, 9)),
        *("request_redirect.py", "TaskStop", "AskUserQuestion", "apply_correction.py", "`corrections`", "--cancel"),
        *("`alignment`", "`constraints ", "`add_atom ", "`remove_atom ", "`force_choice ", "`override_binding "),
        "`retry ",
        *("cleared", "kept", "appended", "only what is about the affected atoms", "request_redirect.py --retry"),
        "no result",
    ],
    "commands/ship.md": [
        *(f"ship.py {step}" for step in ("begin", "approve", "resume", "receipt", "work", "checkpoint", "status")),
        "decide nothing for the person",
        "never work around it",
        *("/aot-loop:ship approve", "/aot-loop:ship refuse WHY", "accept DIGEST", "take-over"),
        "end with the promise",
        "only if the person said so",
    ],
    "commands/ship-status.md": ["change nothing", "`stop_reason`", "`forced`", "`refused`", "`tests_verdict`"],
    "commands/ship-cancel.md": ["always ends it", "ship.py cancel", "TaskStop", "Nothing of it is removed"],
    "skills/phase-loop/SKILL.md": [
        "**Never edit it by hand**",
        *(f"| `{phase}` |" for phase in PHASES),
        *("**fail**", "**pass**", "a person approves them", "byte for byte", "`max_fix_cycles`", "left by force"),
        *("`No findings.`", "(accepted: why)", "(depends on S1)", "<promise>SHIPPED</promise>"),
        *("docs/progress.md", "never try the same again", "checkpoint", "It runs no tests"),
    ],
    "commands/loop-status.md": [
        *("change nothing", "`stop_reason`", "`executable_atoms`", "failures", "`attempts_left`", "`turns`"),
    ],
    "agents/coordinator.md": [
        *("`start_now`", "`start_in_place`", "aot-loop:verifier", "decompose_atom.py", "in_progress", "integrate.py"),
        *("fail_atom.py", "take_back.py", "--worktree", "--in-place", "--token", "--next", "--because-of"),
        *("--progress", "--wants-probe", "record_probe.py", "evidence, not the end", "`next: switch`", "claim"),
        *("One that fails does not spoil the others", "start nothing twice", "Only its recorded verdict completes"),
        "integrate nothing that was begun before",
    ],
    "agents/probe.md": [
        *("feasible", "findings", "cost_estimate", "change nothing", "no logs", "may be tried all the same"),
    ],
    "agents/worker.md": [
        *("success", "bindings_delta", "artifacts", "read_state.py --atom", "`own_worktree`", "`first_run`"),
        "no logs",
        *("`protect`", "`touches`", "Do not commit", "`because_of`", "`progress`", "`wants_probe`", "`decided_by`"),
    ],
    "agents/verifier.md": [
        *("passed", "evidence", "failures", "verify_checklist.py", "record_judgement.py", "change no file"),
    ],
    "skills/state-contract/SKILL.md": [
        "**Never edit it by hand**",
        *("`objective`", "`control`", "`atoms`", "`decompositions`", "`or_groups`", "`bindings`", "`trail`"),
        "`corrections`",
        *("`command`", "`not_command`", "`file`", "`not_file`", "`quality`", "`assertion`", "`group`", "`any_of`"),
        "pending → running → stopped or completed",
        "pending → in_progress → resolved",
        *("--expect-fail", "--expect-missing", "`skipped`", "Codex", "`effort`", "`attempts_left`", "`turns`"),
    ],
    "skills/aot-dag/SKILL.md": [
        *("`depends_on`", "`or_group`", "`touches`", "`speculative: true`", "A resolved atom is its binding"),
        *("`retry`", "`switch`", "`repair`", "`exhausted`", "`blocked`", "`limit`", "nothing else is started over"),
        *("`max_depth`", "`covers`", "--because-of", "record_probe.py", "Alternatives take turns", "for good"),
    ],
    "skills/convergence/SKILL.md": [
        *("`stall_count`", "Another strategy", "`max_stall_count`", "Never repeat what failed", "`attempts_left`"),
        *("never tried", "--because-of", "--wants-probe", "`partial`", "--retry"),
        *("`exhausted:`", "`stalled:`", "`limit:`", "`blocked:`", "`user:`", "`error:`"),
        *("SubagentStop", "SessionStart", "PreCompact", "PreToolUse", "UserPromptSubmit"),
        "The base case alone completes",
    ],
    "skills/parallel-exec/SKILL.md": [
        *("unknown technology", "several independent atoms", "stuck at alternatives", "one simple atom", "--or-fail"),
        *("`max_parallel_agents`", "`speculative: true`", "baseRef", "Successes count", "side effects", "never logs"),
        *("the base case", "the first that is integrated wins"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_every_rule_has_its_place(name: str) -> None:
    text = body(name)
    assert [rule for rule in RULES[name] if rule not in text] == []


def test_there_are_rules_for_every_text() -> None:
    assert sorted(RULES) == sorted(TEXTS)


OUTDATED = (
    "attempts are spent",
    "backtrack",
    "weighing",
    "a probe for each",
    "not selected again",
    "forced if there is one",
)
"""What texts said before alternatives took turns."""


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_said_that_no_longer_holds(name: str) -> None:
    assert [words for words in OUTDATED if words in TEXTS[name]] == []
