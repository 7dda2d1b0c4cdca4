"""Claude Code does its work in each role, and cannot do what its role may not."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from msgspec.structs import replace

from aotloop.agents.contract import Done, Failed, Garbage, Judged, Probed, Tokens
from tests.agents.assignments import worker_answer
from tests.agents.claude.stage import DONE, FOUND, PASSED, PROMPT, Stage, committed, shell
from tests.modelserver import Answer, Call, Say, Script, Usage, tool
from tests.modelserver.clients import needs_claude

pytestmark = needs_claude

# --- the work ----------------------------------------------------------------------------------------------------


def test_a_worker_edits_and_runs_in_a_worktree_and_its_cost_is_what_the_service_counted(stage: Stage) -> None:
    committed(stage.cwd, **{"hello.txt": "hello\n"})
    worktree = stage.folder / "worktree"
    subprocess.run(["git", "-C", str(stage.cwd), "worktree", "add", "-q", "-b", "work", str(worktree)], check=True)
    file = str(worktree / "hello.txt")
    turns = [
        Call(tool("Read", file_path=file), text="I look.", usage=Usage(input=100, output=20, cache_read=1000)),
        Call(tool("Edit", file_path=file, old_string="hello", new_string="hello, world")),
        shell("wc -w < hello.txt > words.txt"),
        Call(tool("Task", description="help", prompt="Sub-task", subagent_type="general-purpose")),
        DONE,
    ]
    helper = Script("Sub-task", [Say("helped", usage=Usage(input=7, output=70, cache_write=700))])
    outcome, server = stage.play(turns, helper, cwd=worktree)
    assert isinstance(outcome, Done)
    assert outcome.summary == "it is done"
    assert ((worktree / "hello.txt").read_text(), (worktree / "words.txt").read_text().strip()) == (
        "hello, world\n",
        "2",
    )
    assert server.lost == []
    assert server.played[0].exchange.prompt.strip() == PROMPT
    (counted,) = server.usage.values()
    assert outcome.tokens == Tokens(
        input=counted.input, output=counted.output, cache_read=counted.cache_read, cache_write=counted.cache_write
    )
    assert outcome.cost_usd is not None
    assert outcome.cost_usd > 0
    assert outcome.turns is not None
    assert outcome.turns >= 5
    assert outcome.notes == ()
    assert stage.lines[0].startswith("Claude Code 2.")
    for line in ("I look.", "Edit hello.txt", "Bash wc -w < hello.txt > words.txt", "Task help"):
        assert line in stage.lines


def test_who_says_that_it_failed_has_failed(stage: Stage) -> None:
    outcome, _ = stage.play([Answer(json.loads(worker_answer(success=False, reason="the API is gone")))])
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.taught) == ("the API is gone", True)


def test_who_never_answers_in_the_form_that_was_asked_for_gives_garbage(stage: Stage) -> None:
    outcome, _ = stage.play([Say("All done!"), Say("I am sure.")])
    assert isinstance(outcome, Garbage)
    assert "I am sure." in outcome.reason
    outcome, _ = stage.play([Answer({"done": "yes"})] * 8)
    assert isinstance(outcome, Garbage)
    assert "fits the schema" in outcome.reason
    assert outcome.cost_usd


def test_an_answer_in_words_is_taken_too(stage: Stage) -> None:
    outcome, _ = stage.play([Say(worker_answer())] * 2)
    assert isinstance(outcome, Done)


def test_it_may_not_cost_more_than_it_is_told(stage: Stage) -> None:
    dear = Call(tool("Bash", command="ls", description="look"), usage=Usage(input=1_000_000))
    outcome, _ = stage.play([dear, DONE], max_cost_usd=0.01)
    assert isinstance(outcome, Failed)
    assert "used up the $0.01" in outcome.reason
    assert outcome.cost_usd is not None
    assert outcome.cost_usd > 0.01


def test_the_configured_model_is_asked(stage: Stage) -> None:
    stage.backend = replace(stage.backend, model="claude-haiku-4-5")
    _, server = stage.play([DONE])
    assert [record.exchange.model for record in server.played] == ["claude-haiku-4-5"]


# --- what a role may do ------------------------------------------------------------------------------------------


def test_a_worker_does_not_write_elsewhere_with_its_tools(stage: Stage) -> None:
    outside = stage.folder / "outside.txt"
    outcome, server = stage.play([Call(tool("Write", file_path=str(outside), content="x")), DONE])
    assert isinstance(outcome, Done)
    assert not outside.exists()
    assert {"AskUserQuestion", "WebFetch", "EnterWorktree", "CronCreate"}.isdisjoint(server.played[0].exchange.tools)


def test_a_probe_that_tries_to_write_cannot(stage: Stage) -> None:
    committed(stage.cwd, f="a\n")
    file = str(stage.cwd / "f")
    turns = [
        Call(tool("Read", file_path=file)),
        Call(tool("Write", file_path=str(stage.cwd / "new"), content="x")),
        Call(tool("Edit", file_path=file, old_string="a", new_string="b")),
        shell("touch new"),
        Call(tool("Task", description="help", prompt="Sub-task", subagent_type="general-purpose")),
        FOUND,
    ]
    outcome, server = stage.play(turns, role="probe")
    assert isinstance(outcome, Probed)
    assert (stage.files(), (stage.cwd / "f").read_text()) == ([Path("f")], "a\n")
    assert {"Write", "Edit", "NotebookEdit", "Bash", "Task", "Skill"}.isdisjoint(server.played[0].exchange.tools)
    assert [("No such tool" in one) for one in server.played[-1].exchange.results] == [False, True, True, True, True]


HARMLESS = ("ls", "cat f", "git log --oneline", "git diff", "wc -l f", "head -1 f | sort", "git show HEAD:f")
HARMFUL = (
    *("touch x", "echo hi > x", "cat f >> f", "rm f", "mkdir x", "sed -i s/a/b/ f", "sed -n 'w x' f", "tee x < f"),
    *(
        "ls && touch x",
        "ls; touch x",
        "ls\ntouch x",
        "ls | tee x",
        "echo $(touch x)",
        "cat <(touch x)",
        "FOO=1 touch x",
    ),
    *(
        "env touch x",
        "xargs touch < f",
        "sort -o x f",
        "find . -delete",
        "find . -fprint x",
        "awk 'BEGIN{print>\"x\"}'",
    ),
    *("git log --output=x", "git grep -O'touch x' a", "git -c core.pager='touch x' log", "git branch new", "git stash"),
    *("git config a.b c", "git diff --ext-diff", "rg --pre 'touch x' a", 'python3 -c \'open("x", "w")\'', "make"),
    *("curl http://127.0.0.1:9/", "git fetch", "printenv", "echo $ANTHROPIC_API_KEY", "cat /etc/passwd"),
)


def test_a_verifiers_shell_looks_and_changes_nothing(stage: Stage) -> None:
    (stage.cwd / ".claude").mkdir()
    allow = {"permissions": {"allow": ["Bash(touch:*)", "Bash(make)", "Write"], "defaultMode": "acceptEdits"}}
    committed(stage.cwd, f="a\n", Makefile="all:\n\ttouch x\n", **{".claude/settings.json": json.dumps(allow)})
    before = stage.files()
    write = Call(tool("Write", file_path=str(stage.cwd / "x"), content="x"))
    turns = [*map(shell, HARMLESS + HARMFUL), write, PASSED]
    outcome, server = stage.play(turns, role="verifier")
    assert isinstance(outcome, Judged)
    *results, written = server.played[-1].exchange.results
    denied = {command: "has been denied" in one for command, one in zip(HARMLESS + HARMFUL, results, strict=True)}
    assert denied == dict.fromkeys(HARMLESS, False) | dict.fromkeys(HARMFUL, True)
    assert "No such tool" in written
    assert (stage.files(), (stage.cwd / "f").read_text()) == (before, "a\n")
