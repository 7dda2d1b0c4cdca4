"""What Claude Code prints is read, however it comes, and believed as far as it goes. A program stands in for it."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.claude.backend import Claude, make
from aotloop.agents.contract import Backend, Crashed, Done, Failed, Garbage, Outcome, Tokens
from aotloop.agents.registry import Settings
from aotloop.errors import Unavailable
from tests.agents.assignments import an_assignment, attempt, transcript, worker_answer
from tests.agents.conformance import AnswerConformance


def result(answer: str | None = None, **more: Any) -> str:
    """The last line of Claude Code; its type is at the end, as it often is."""
    given = {"structured_output": json.loads(answer)} if answer is not None else {}
    return json.dumps({"is_error": False, "subtype": "success", **given, **more, "type": "result"})


def stand_in(folder: Path, program: Path) -> str:
    script = folder / "claude"
    script.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(program))}\n")
    script.chmod(0o755)
    return str(script)


class TestClaude(AnswerConformance):
    def prepared(self, folder: Path, program: Path) -> tuple[Backend, dict[str, Any]]:
        return Claude(program=stand_in(folder, program)), {}

    def line(self, answer: str) -> str:
        return result(answer)


def heard(folder: Path, *lines: str, code: int = 0, **more: Any) -> tuple[Outcome, list[str]]:
    """Of a client that prints these lines."""
    program = folder / "program.py"
    text = "\n".join(lines) + "\n"
    program.write_text(f"import sys\nsys.stdout.buffer.write({text.encode()!r})\nraise SystemExit({code})")
    heard: list[str] = []
    backend = Claude(program=stand_in(folder, program))
    return attempt(backend, an_assignment(folder, **more), heard.append), heard


# --- what it prints ----------------------------------------------------------------------------------------------


def test_a_person_sees_words_and_the_transcript_keeps_the_events(tmp_path: Path) -> None:
    edit = {"type": "tool_use", "name": "Edit", "input": {"old_string": "x", "file_path": f"{tmp_path}/tree/src/x.py"}}
    event = {"message": {"content": [{"type": "text", "text": "I do\nit."}, edit]}, "type": "assistant"}
    retry = {"type": "system", "subtype": "api_retry", "error": "overloaded", "error_status": 529, "attempt": 1}
    lines = [json.dumps(event), json.dumps({**retry, "max_retries": 4, "retry_delay_ms": 520})]
    outcome, heard_lines = heard(tmp_path, *lines, result(worker_answer()))
    assert isinstance(outcome, Done)
    assert heard_lines[:3] == ["I do it.", "Edit src/x.py", "overloaded (529): tries again in 0.5 s, 1 of 4"]
    assert "it is done" in outcome.output
    assert [entry["text"] for entry in transcript(an_assignment(tmp_path))][:2] == lines


def test_the_last_of_several_results_counts(tmp_path: Path) -> None:
    first, last = result(worker_answer(), num_turns=1), result(worker_answer(success=False, reason="no"), num_turns=7)
    outcome, _ = heard(tmp_path, first, "{} not an event", '{"type": 3}', last, "[1, 2]", "good-bye")
    assert isinstance(outcome, Failed)
    assert (outcome.reason, outcome.turns) == ("no", 7)


@pytest.mark.parametrize("size", [16_384, 20_000, 60_000, 200_000])
def test_a_long_event_is_read_whole(tmp_path: Path, size: int) -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "ü\u2028" * size}]}}
    ended = {**json.loads(result(worker_answer())), "permission_denials": "\u2028" * size}
    lines = [json.dumps(one, ensure_ascii=False) for one in (said, ended)]
    outcome, heard_lines = heard(tmp_path, *lines)
    assert isinstance(outcome, Done)
    assert heard_lines[0].startswith("ü ü")
    assert len(heard_lines) == 2


def test_a_result_longer_than_what_is_kept_of_the_output_is_read_whole(tmp_path: Path) -> None:
    outcome, _ = heard(tmp_path, result(worker_answer(), permission_denials=["x" * 600_000]))
    assert isinstance(outcome, Done)


def test_an_event_longer_than_any_should_be_is_left_out(tmp_path: Path) -> None:
    said = json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "x" * 3_000_000}]}})
    outcome, heard_lines = heard(tmp_path, said, result(worker_answer()))
    assert isinstance(outcome, Done)
    assert len(heard_lines) == 1


def test_a_flood_of_events_does_not_drown_the_result(tmp_path: Path) -> None:
    delta = json.dumps({"type": "stream_event", "event": {"type": "content_block_delta", "delta": {"text": "x" * 900}}})
    said = json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "at last"}]}})
    outcome, heard_lines = heard(tmp_path, *[delta] * 25_000, said, result(worker_answer(), total_cost_usd=0.5))
    assert isinstance(outcome, Done)
    assert outcome.cost_usd == 0.5
    assert heard_lines[0] == "at last", "of a full transcript, too"


def test_events_of_any_shape_do_no_harm(tmp_path: Path) -> None:
    kinds = ("system", "assistant", "user", "stream_event", "rate_limit_event", "result")
    shapes: list[Any] = [None, [], {}, "x", -1, 1e400, [None, {"content": 7}], {"content": [{"type": "tool_use"}]}]
    keys = ("message", "event", "rate_limit_info", "usage", "modelUsage", "errors", "result", "error", "subtype")
    odd = [json.dumps({"type": kind, **dict.fromkeys(keys, shape)}) for kind in kinds for shape in shapes]
    retries = [json.dumps({"type": "system", "subtype": "api_retry", "attempt": shape}) for shape in shapes]
    outcome, _ = heard(
        tmp_path, *odd, *retries, result(worker_answer(), modelUsage={"m": 3, "n": {"inputTokens": "x"}})
    )
    assert isinstance(outcome, Done)
    assert outcome.tokens == Tokens()


def test_halves_of_characters_do_no_harm(tmp_path: Path) -> None:
    """JavaScript prints them, where it has cut a text in the middle of an emoji."""
    said = json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": "so \ud83d"}]}})
    answer = worker_answer(bindings_delta={"summary": "done \ud83d", "artifacts": ["a\ud83d"]})
    outcome, heard_lines = heard(tmp_path, said, result(answer, result="\ud83d"))
    assert isinstance(outcome, Done)
    assert (outcome.summary, outcome.artifacts, heard_lines[0]) == ("done", (), "so")


# --- how it ends -------------------------------------------------------------------------------------------------


def test_success_and_another_exit_than_0_do_not_go_together(tmp_path: Path) -> None:
    outcome, _ = heard(tmp_path, result(worker_answer()), code=1)
    assert isinstance(outcome, Crashed)
    assert "it claims success, but: exit 1" in outcome.reason


def test_an_answer_in_the_text_will_do(tmp_path: Path) -> None:
    outcome, _ = heard(tmp_path, result(result=f"So:\n```json\n{worker_answer()}\n```"))
    assert isinstance(outcome, Done)


@pytest.mark.parametrize("answer", ["{}", '{"success": "yes"}', '{"success": null}', "[]", "3"])
def test_a_structured_result_is_checked_by_us_nevertheless(tmp_path: Path, answer: str) -> None:
    assert isinstance(heard(tmp_path, result(answer))[0], Garbage)


def test_a_structured_result_without_a_summary_is_taken_and_noted(tmp_path: Path) -> None:
    outcome, _ = heard(tmp_path, result('{"success": true}'))
    assert isinstance(outcome, Done)
    assert outcome.summary == "done; the agent did not say what it did"
    assert any("bindings_delta.summary" in note for note in outcome.notes)


def test_without_a_result_the_tokens_seen_are_told(tmp_path: Path) -> None:
    def stream(reply: str, **inner: Any) -> str:
        return json.dumps({"type": "stream_event", "api_message_id": reply, "event": inner})

    begun = {"message": {"usage": {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 7}}}
    ended = {"usage": {"input_tokens": 10, "output_tokens": 50, "cache_read_input_tokens": 7}}
    outcome, _ = heard(tmp_path, stream("a", **begun), stream("a", **ended), stream("b", **begun), code=143)
    assert isinstance(outcome, Crashed)
    assert "killed by SIGTERM" in outcome.reason
    assert (outcome.tokens, outcome.cost_usd) == (Tokens(input=20, output=51, cache_read=14), None)


@pytest.mark.parametrize(("version", "is_old"), [("1.9.3", True), ("2.0.99", True), ("2.1.0", False), ("3.0", False)])
def test_a_client_older_than_what_was_tested_is_noted(tmp_path: Path, version: str, *, is_old: bool) -> None:
    begun = json.dumps({"type": "system", "subtype": "init", "claude_code_version": version})
    outcome, _ = heard(tmp_path, begun, result(worker_answer()))
    assert any("older than what was tested" in note for note in outcome.notes) == is_old


def test_a_client_too_old_to_know_our_options_is_nobodys_failed_attempt(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("raise SystemExit(\"error: unknown option '--json-schema'\")")
    with pytest.raises(Unavailable, match="unknown option '--json-schema'"):
        attempt(Claude(program=stand_in(tmp_path, program)), an_assignment(tmp_path))


def test_it_is_made_from_settings() -> None:
    made = make(Settings(model="opus", program="/opt/claude", pass_env=("X",)))
    assert made == Claude(model="opus", program="/opt/claude", pass_env=("X",))
