"""What is read as a result is valid, plain and short; what is ambiguous or contradicts itself is no result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.answers.answer_schema import ProbeResult, VerifierResult, WorkerResult
from aotloop.agents.answers.extraction import NotAResult
from aotloop.agents.answers.validation import LONGEST_SUMMARY, Reading, read_result
from aotloop.agents.roles import ROLES, WAYS, Role
from tests.agents.assignments import worker_answer

ROOT = Path("/somewhere/tree")


def read(text: str, role: Role = "worker", root: Path = ROOT) -> Reading:
    return read_result(role, text, root)


def worker(**more: Any) -> tuple[WorkerResult, tuple[str, ...]]:
    reading = read(worker_answer(**more))
    assert isinstance(reading.result, WorkerResult)
    return reading.result, reading.notes


# --- what is taken -----------------------------------------------------------------------------------------------


def test_a_worker_need_not_say_more_than_what_it_did() -> None:
    reading = read('{"success": true, "bindings_delta": {"summary": "did it"}}')
    assert isinstance(reading.result, WorkerResult)
    assert reading.result.bindings_delta.summary == "did it"
    assert (reading.parts, reading.refused, reading.notes) == (None, None, ())


def test_null_is_the_same_as_nothing_and_unknown_keys_are_ignored() -> None:
    reading = read('{"success": false, "reason": null, "bindings_delta": null, "mood": {"good": 1}, "proposal": null}')
    assert reading.result == WorkerResult(success=False)


def test_artifacts_of_both_lists_are_one_list_each_path_once() -> None:
    delta = {"summary": "x", "artifacts": ["a.py", "./b.py"]}
    result, notes = worker(bindings_delta=delta, artifacts=["b.py", "c/d.py", "a.py"])
    assert result.bindings_delta.artifacts == result.artifacts == ("a.py", "b.py", "c/d.py")
    assert notes == ()


def test_paths_outside_of_the_tree_are_dropped_with_a_note() -> None:
    paths = ["../up", "/etc/passwd", "a/../../up", "", ".", ".git/config", "a\0b", f"{ROOT}/inside.py", "x" * 501]
    result, notes = worker(artifacts=paths)
    assert result.artifacts == ("inside.py",)
    assert "../up, /etc/passwd" in notes[0]


def test_a_link_that_leads_outside_is_outside(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to("/etc")
    (tmp_path / "tree" / "loop").symlink_to("loop")
    reading = read(worker_answer(artifacts=["link/passwd", "new.py"]), root=tmp_path / "tree")
    assert isinstance(reading.result, WorkerResult)
    assert reading.result.artifacts == ("new.py",)


def test_escapes_and_control_characters_are_taken_out() -> None:
    said = "\x1b[31mred\x1b[0m\r\nnext\x07\x00\u202e \x1b]0;title\x07end\ud800\ufeff"
    result, _ = worker(bindings_delta={"summary": said})
    assert result.bindings_delta.summary == "red\nnext end"
    result.bindings_delta.summary.encode()


def test_too_long_a_summary_is_cut_and_the_work_is_kept() -> None:
    result, notes = worker(bindings_delta={"summary": "word " * 10_000})
    assert len(result.bindings_delta.summary) <= LONGEST_SUMMARY
    assert result.bindings_delta.summary.endswith("cut]")
    assert notes == (f"the summary has 49999 characters and was cut to {LONGEST_SUMMARY}",)


def test_more_artifacts_than_anybody_reads_are_dropped() -> None:
    result, notes = worker(artifacts=[f"f{number}" for number in range(500)])
    assert len(result.artifacts) == 100
    assert "and 392 more" in notes[0]


def test_a_probe_without_an_estimate_is_one(tmp_path: Path) -> None:
    reading = read('{"feasible": true, "findings": "easy", "cost_estimate": 7}', "probe", tmp_path)
    assert reading.result == ProbeResult(feasible=True, findings="easy", cost_estimate=7.0)
    reading = read('{"feasible": true, "findings": "easy", "cost_estimate": -7}', "probe", tmp_path)
    assert reading.result == ProbeResult(feasible=True, findings="easy")
    assert reading.notes == ("a cost estimate of -7 minutes was ignored",)


def test_a_verifier_names_what_does_not_hold() -> None:
    reading = read('{"passed": false, "evidence": "", "failures": ["a\\u0007", " "]}', "verifier")
    assert reading.result == VerifierResult(passed=False, evidence="", failures=("a",))


# --- what is not -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "text", "why"),
    [
        ("worker", "", "not valid JSON"),
        ("worker", "{", "not valid JSON"),
        ("worker", "[]", "not an object"),
        ("worker", '{"success": true} {}', "Extra data"),
        ("worker", "{}", "success"),
        ("worker", '{"success": "true"}', "Expected `bool`, got `str`"),
        ("worker", '{"success": 1}', "Expected `bool`, got `int`"),
        ("worker", '{"success": true, "bindings_delta": "done"}', r"Expected `object`, got `str`"),
        ("worker", '{"success": false, "artifacts": "a.py"}', "Expected `array`"),
        ("worker", '{"success": false, "artifacts": [1]}', "Expected `str`, got `int`"),
        ("worker", '{"success": false, "success": true}', '"success" is there twice'),
        ("worker", '{"success": false, "a": {"b": 1, "b": 1}}', '"b" is there twice'),
        ("probe", '{"feasible": true, "findings": "x", "cost_estimate": NaN}', "NaN is not a number"),
        ("probe", '{"feasible": true, "findings": "x", "cost_estimate": -Infinity}', "-Infinity is not a number"),
        ("probe", '{"feasible": true, "findings": "x", "cost_estimate": 1e999}', "too large a number"),
        ("probe", '{"feasible": true, "findings": "x", "cost_estimate": 1' + "0" * 5000 + "}", "too large a number"),
        ("probe", '{"feasible": true, "findings": "x", "cost_estimate": true}', "got `bool`"),
        ("probe", '{"feasible": true}', "findings"),
        ("probe", '{"feasible": true, "findings": "\\u001b[0m"}', "does not say what it found"),
        ("verifier", '{"passed": true, "evidence": "fine", "failures": ["no"]}', "names what does not hold"),
        ("verifier", '{"passed": true, "evidence": ""}', "without evidence"),
        ("verifier", '{"passed": true}', "evidence"),
        ("worker", '{"a":' * 100_000, "nested too deeply|not valid JSON"),
    ],
)
def test_what_is_no_result_says_why(role: Role, text: str, why: str) -> None:
    with pytest.raises(NotAResult, match=why):
        read(text, role)


# --- anything at all ---------------------------------------------------------------------------------------------

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    [
        "success",
        "bindings_delta",
        "summary",
        "artifacts",
        "reason",
        "proposal",
        "feasible",
        "findings",
        "cost_estimate",
        "passed",
        "evidence",
        "failures",
        "children",
        "description",
        "depends_on",
        "name",
        "run",
    ]
)
SHAPED = st.recursive(ANYTHING, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6))


@given(st.sampled_from(ROLES), st.dictionaries(KEYS, SHAPED), st.booleans())
def test_any_json_is_a_result_or_not_one_and_nothing_else(role: Role, raw: dict[str, Any], deciding: bool) -> None:
    try:
        reading = read(json.dumps({**raw, WAYS[role].deciding_key: deciding}), role)
    except NotAResult:
        return
    json.dumps(reading.notes).encode()
    if isinstance(reading.result, WorkerResult) and deciding:
        assert reading.result.bindings_delta.summary.strip()


@given(st.sampled_from(ROLES), st.text())
def test_any_text_is_a_result_or_not_one_and_nothing_else(role: Role, text: str) -> None:
    with pytest.raises(NotAResult):
        read(text, role)


@pytest.mark.parametrize("delta", ["{}", '{"summary": " \\n "}', '{"summary": ""}'])
def test_an_empty_summary_is_no_failure_and_is_noted(tmp_path: Path, delta: str) -> None:
    reading = read_result("worker", f'{{"success": true, "bindings_delta": {delta}, "artifacts": ["a.py"]}}', tmp_path)
    assert isinstance(reading.result, WorkerResult)
    assert reading.result.bindings_delta.summary == "done; it changed a.py"
    assert reading.notes == ("it does not say what it did (bindings_delta.summary)",)
