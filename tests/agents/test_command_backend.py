"""Any program is an agent, if it is told what to do and answers with JSON."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.command_backend import Command, PrintedBill, make, with_what_is_told_besides
from aotloop.agents.contract import Backend, Crashed, Done, Failed, Garbage, Judged, Meter, MustWait, Outcome, Tokens
from aotloop.agents.registry import Settings
from aotloop.errors import AotError, Unavailable
from tests.agents.assignments import an_assignment, attempt, worker_answer
from tests.agents.conformance import AnswerConformance


class TestCommand(AnswerConformance):
    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        del folder
        return Command(argv=(sys.executable, str(program))), {}


class TestCommandWithResultFile(TestCommand):
    """Told by files only; what the programs print is their answer nevertheless."""

    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        del folder
        return Command(argv=(sys.executable, str(program), "{prompt_file}", "{result_file}")), {}


def answered(folder: Path, program: str, *arguments: str, **more: Any) -> Outcome:
    backend = Command(argv=(sys.executable, "-c", textwrap.dedent(program), *arguments))
    return attempt(backend, an_assignment(folder, **more))


ECHO = "import sys, json; print(json.dumps({'success': True, 'bindings_delta': {'summary': repr(sys.argv[1:])}}))"


# --- being told --------------------------------------------------------------------------------------------------


def test_placeholders_are_filled_wherever_they_stand(tmp_path: Path) -> None:
    outcome = answered(
        tmp_path, ECHO, "--say={prompt}", "{atom}/{attempt}", "{{atom}}", '{"a":{"b":1}}', prompt="hello"
    )
    assert isinstance(outcome, Done)
    assert outcome.summary == repr(["--say=hello", "A1/1", "{atom}", '{"a":{"b":1}}'])


def test_what_a_prompt_holds_is_neither_a_placeholder_nor_for_a_shell(tmp_path: Path) -> None:
    prompt = "$(touch made) `touch made` {result_file} ; touch made"
    outcome = answered(tmp_path, ECHO, "{prompt}", prompt=prompt)
    assert isinstance(outcome, Done)
    assert outcome.summary == repr([prompt])
    assert not (tmp_path / "tree" / "made").exists()


def test_a_prompt_that_is_nowhere_in_the_arguments_is_on_standard_input(tmp_path: Path) -> None:
    program = "import sys, json; print(json.dumps({'success': False, 'reason': sys.stdin.read()}))"
    outcome = answered(tmp_path, program, prompt="grün\n")
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.taught) == ("grün", True)


def test_a_prompt_in_a_file_leaves_standard_input_empty(tmp_path: Path) -> None:
    program = """
        import sys, json
        said = open(sys.argv[1]).read() + "|" + sys.stdin.read()
        print(json.dumps({"success": False, "reason": said}))
    """
    outcome = answered(tmp_path, program, "{prompt_file}", prompt="words")
    assert isinstance(outcome, Failed)
    assert outcome.reason == "words|"


def test_a_prompt_too_long_for_an_argument_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"\{prompt_file\}"):
        answered(tmp_path, ECHO, "{prompt}", prompt="x" * 3_000_000)


def test_half_a_character_in_a_prompt_does_no_harm(tmp_path: Path) -> None:
    program = "import sys, json; print(json.dumps({'success': False, 'reason': sys.stdin.read()}))"
    outcome = answered(tmp_path, program, prompt="a\ud800b")
    assert isinstance(outcome, Failed)
    assert outcome.reason == "a?b"


@pytest.mark.parametrize("argument", ["{promt}", "--x={prompt} {nothing}", "{ATOM}"])
def test_an_unknown_placeholder_is_refused_at_once_and_names_the_known(argument: str) -> None:
    with pytest.raises(AotError, match=r"is unknown; known are: \{prompt\}, \{prompt_file\}") as error:
        make(Settings(argv=("agent", argument)))
    assert error.value.hint is not None
    assert "{{" in error.value.hint


@pytest.mark.parametrize("argv", [(), ("",), (" ", "x")])
def test_a_command_needs_a_program(argv: tuple[str, ...]) -> None:
    with pytest.raises(AotError, match="needs argv"):
        make(Settings(argv=argv))


def test_a_program_that_is_not_installed_is_nobodys_failed_attempt(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="there is no program no-such-agent"):
        attempt(Command(argv=("no-such-agent",)), an_assignment(tmp_path))


# --- answering ---------------------------------------------------------------------------------------------------

WRITE = "import os, sys; path = sys.argv[1]\n"


def test_the_result_file_is_the_answer_if_there_is_one(tmp_path: Path) -> None:
    program = WRITE + f"open(path, 'w').write({worker_answer()!r}); print({worker_answer(success=False)!r})"
    assert isinstance(answered(tmp_path, program, "{result_file}"), Done)


@pytest.mark.parametrize(
    ("writing", "why"),
    [
        (f"open(path, 'w').write({worker_answer()[:40]!r})", "not valid JSON"),
        ("open(path, 'w')", "empty"),
        ("os.mkdir(path)", "not a regular file"),
        ("os.mkfifo(path)", "not a regular file"),
        ("os.symlink('/etc/passwd', path)", "cannot be read"),
        ("open(path, 'w').write(' ' * 300_000)", "longer than"),
        ("open(path, 'wb').write(b'\\xff\\xfe\\x00')", "not valid JSON"),
        ("open(path, 'w').write('[1]')", "not an object"),
        ("open(path, 'w').write('[' * 200_000)", "nested too deeply"),
    ],
)
def test_a_broken_result_file_is_garbage_whatever_was_printed(tmp_path: Path, writing: str, why: str) -> None:
    outcome = answered(tmp_path, WRITE + f"{writing}\nprint({worker_answer()!r})", "{result_file}")
    assert isinstance(outcome, Garbage)
    assert why in outcome.reason


def test_a_result_that_was_there_before_the_attempt_is_not_believed(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "scratch" / "result.json").write_text(worker_answer())
    assert isinstance(answered(tmp_path, "print('hm')", "{result_file}"), Garbage)


def test_success_and_another_exit_than_0_do_not_go_together(tmp_path: Path) -> None:
    outcome = answered(tmp_path, f"print({worker_answer()!r}); raise SystemExit(1)")
    assert isinstance(outcome, Crashed)
    assert "it claims success, but: exit 1" in outcome.reason
    said = json.dumps({"passed": True, "evidence": "all green"})
    assert isinstance(answered(tmp_path, f"print({said!r}); raise SystemExit(1)", role="verifier"), Crashed)


def test_who_says_why_it_failed_may_exit_as_it_likes(tmp_path: Path) -> None:
    said = worker_answer(success=False, reason="the API is gone")
    outcome = answered(tmp_path, f"print({said!r}); raise SystemExit(1)")
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.taught) == ("the API is gone", True)


def test_a_verifier_judges(tmp_path: Path) -> None:
    said = json.dumps({"passed": False, "evidence": "ran it", "failures": ["no header"]})
    outcome = answered(tmp_path, f"print({said!r})", role="verifier")
    assert isinstance(outcome, Judged)
    assert (outcome.passed, outcome.evidence, outcome.failures) == (False, "ran it", ("no header",))


def test_exit_75_means_not_now(tmp_path: Path) -> None:
    outcome = answered(tmp_path, f"print('rate limit'); raise SystemExit({os.EX_TEMPFAIL})")
    assert isinstance(outcome, MustWait)
    assert "rate limit" in outcome.reason


def test_the_answer_is_found_after_any_amount_of_other_output(tmp_path: Path) -> None:
    program = f"print('{{x ' * 300_000); print({worker_answer()!r}); print('bye {{}}')"
    assert isinstance(answered(tmp_path, program), Done)


DONE = Done(summary="it is done")
FAILED = Failed(reason="it is not", notes=("a note",))


def told(outcome: Outcome, **more: Any) -> Outcome:
    return with_what_is_told_besides(outcome, json.dumps({"success": False, **more}))


def test_nothing_more_changes_nothing() -> None:
    assert told(DONE) is DONE
    assert told(FAILED, cause=None, usage=None) is FAILED


@pytest.mark.parametrize("cause", ["rate_limit", "overload", "outage"])
def test_what_passes_has_to_be_waited_for(cause: str) -> None:
    outcome = told(FAILED, cause=cause, retry_after=90)
    assert isinstance(outcome, MustWait)
    assert (outcome.reason, outcome.retry_after, outcome.cause, outcome.notes) == ("it is not", 90, cause, ("a note",))


@pytest.mark.parametrize("after", [None, "soon", True, float("inf"), [1]])
def test_a_time_that_is_none_was_not_told(after: object) -> None:
    outcome = told(FAILED, cause="rate_limit", retry_after=after)
    assert isinstance(outcome, MustWait)
    assert outcome.retry_after is None


@pytest.mark.parametrize("cause", ["quota", "auth", "refusal", "too_long", "budget"])
def test_what_does_not_pass_stays_a_failure(cause: str) -> None:
    outcome = told(FAILED, cause=cause)
    assert isinstance(outcome, Failed)
    assert (outcome.cause, outcome.reason) == (cause, "it is not")


def test_who_succeeds_had_no_trouble() -> None:
    assert told(DONE, cause="rate_limit") is DONE


def test_an_unknown_cause_is_noted_and_left_out() -> None:
    outcome = told(FAILED, cause="bad luck")
    assert isinstance(outcome, Failed)
    assert outcome.cause is None
    assert "its cause is none of" in outcome.notes[-1]


def test_usage_is_taken_over() -> None:
    outcome = told(DONE, usage={"cost_usd": 0.5, "input": 10, "output": 2, "turns": 3})
    assert (outcome.cost_usd, outcome.tokens, outcome.turns) == (0.5, Tokens(input=10, output=2), 3)


def test_a_bill_only_grows(tmp_path: Path) -> None:
    meter = Meter()
    bill = PrintedBill(an_assignment(tmp_path, meter=meter), lambda _: None)
    for usage in ({"cost_usd": 0.5, "input": 10}, {"output": 2}, {"cost_usd": 0.1, "input": 3, "output": 1}):
        bill.hear(json.dumps({"usage": usage}))
    assert (meter.cost_usd, meter.tokens) == (0.5, Tokens(input=10, output=2))


def test_money_alone_is_usage_too() -> None:
    outcome = told(DONE, usage={"cost_usd": 0.5})
    assert (outcome.cost_usd, outcome.tokens, outcome.turns) == (0.5, None, None)


@pytest.mark.parametrize("usage", [3, [], "much", {"cost_usd": -1}, {"input": 1.5}, {"output": -2}, {"turns": "x"}])
def test_usage_that_makes_no_sense_is_noted_and_left_out(usage: object) -> None:
    outcome = told(DONE, usage=usage)
    assert isinstance(outcome, Done)
    assert (outcome.cost_usd, outcome.tokens, outcome.summary) == (None, None, "it is done")
    assert "is not valid" in outcome.notes[-1]


@pytest.mark.parametrize("answer", ["", "[1]", "nonsense", "[" * 100_000])
def test_what_is_no_object_tells_nothing(answer: str) -> None:
    assert with_what_is_told_besides(DONE, answer) is DONE
