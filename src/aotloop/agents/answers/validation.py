"""Validation of an answer: its text becomes a result with valid types and plain, short text; or it is refused.

A text that is too long is cut, and a path outside of the tree is dropped, with a note: the work is still useful. An
answer that is ambiguous or contradicts itself is refused.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from aotloop.agents.answers.answer_schema import (
    RESULTS,
    BindingsDelta,
    JudgeResult,
    PlannerResult,
    ProbeResult,
    Result,
    VerifierResult,
    WorkerResult,
)
from aotloop.agents.answers.extraction import NotAResult
from aotloop.agents.answers.plans import read_planner
from aotloop.agents.answers.split_proposal import Parts, Refused, read_proposal
from aotloop.agents.roles import Role
from aotloop.text.phrases import listed
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut, one_line

LONGEST_SUMMARY = 4000
LONGEST_REASON = 2000
LONGEST_FINDINGS = 4000
LONGEST_EVIDENCE = 4000
LONGEST_FAILURE = 500
MOST_FAILURES = 50
MOST_SCORES = 100
MOST_BLAMED = 10
_LONGEST_NUMBER = 18


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    result: Result
    """Its `proposal` is always None: the proposal is in `parts` if it was accepted, else its reason is in `refused`."""
    parts: Parts | None = None
    refused: str | None = None
    """Why the proposal was refused."""
    notes: tuple[str, ...] = ()


def read_result(role: Role, text: str, root: Path) -> Reading:
    """`text` is exactly one JSON object. Raises NotAResult."""
    raw = _decoded(text)
    if not isinstance(raw, dict):
        raise NotAResult("it is JSON, but not an object")
    parts, refused = _parts(raw.pop("proposal", None))
    try:
        result = msgspec.convert(raw, RESULTS[role])
    except msgspec.ValidationError as error:
        raise NotAResult(one_line(str(error), 200)) from None
    except UnicodeEncodeError:  # msgspec would quote the value in its message if it expects another type than text
        raise NotAResult("it has half of a surrogate pair in it") from None
    notes: list[str] = []
    return Reading(result=_read(result, root, notes), parts=parts, refused=refused, notes=tuple(notes))


def _read(result: Result, root: Path, notes: list[str]) -> Result:
    match result:
        case WorkerResult():
            return _worker(result, root, notes)
        case ProbeResult():
            return _probe(result, notes)
        case VerifierResult():
            return _verifier(result, notes)
        case JudgeResult():
            return _judge(result)
        case PlannerResult():
            return read_planner(result, notes)


def _decoded(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_once, parse_constant=_no_number, parse_float=_finite, parse_int=_short
        )
    except NotAResult:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise NotAResult(f"the answer is not valid JSON: {error.msg} ({where})") from None
    except RecursionError:
        raise NotAResult("the answer is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NotAResult(f'"{one_line(key, 40)}" is there twice; which of them counts?')
        found[key] = value
    return {key: value for key, value in found.items() if value is not None}


def _no_number(word: str) -> float:
    raise NotAResult(f"{word} is not a number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise NotAResult(f"{digits[:20]} is too large a number")
    return number


def _short(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        raise NotAResult(f"{digits[:_LONGEST_NUMBER]}… is too large a number")
    return int(digits)


def _parts(raw: Any) -> tuple[Parts | None, str | None]:
    if raw is None:
        return None, None
    try:
        return read_proposal(raw), None
    except Refused as refusal:
        return None, one_line(str(refusal), 200)


def _worker(result: WorkerResult, root: Path, notes: list[str]) -> WorkerResult:
    delta = result.bindings_delta
    summary = _short_text("the summary", delta.summary, LONGEST_SUMMARY, notes)
    artifacts, dropped = artifacts_inside((*delta.artifacts, *result.artifacts), root)
    notes += dropped
    if result.success and not summary:
        notes.append("it does not say what it did (bindings_delta.summary)")
        summary = f"done; it changed {listed(artifacts)}" if artifacts else "done; the agent did not say what it did"
    return replace(
        result,
        bindings_delta=BindingsDelta(summary=summary, artifacts=artifacts),
        artifacts=artifacts,
        reason=_short_text("the reason", result.reason, LONGEST_REASON, notes),
        because_of=tuple(dict.fromkeys(filter(None, map(plain, result.because_of))))[:MOST_BLAMED],
    )


def _probe(result: ProbeResult, notes: list[str]) -> ProbeResult:
    findings = _short_text("the findings", result.findings, LONGEST_FINDINGS, notes)
    if not findings:
        raise NotAResult("it does not say what it found")
    estimate = result.cost_estimate
    if estimate is not None and estimate <= 0:
        notes.append(f"a cost estimate of {estimate:g} minutes was ignored")
        estimate = None
    return replace(result, findings=findings, cost_estimate=estimate)


def _verifier(result: VerifierResult, notes: list[str]) -> VerifierResult:
    evidence = _short_text("the evidence", result.evidence, LONGEST_EVIDENCE, notes)
    failures = tuple(
        filter(None, (cut(plain(failure), LONGEST_FAILURE) for failure in result.failures[:MOST_FAILURES]))
    )
    if result.passed and failures:
        raise NotAResult(f"it says passed, and names what does not hold: {one_line(failures[0], 80)}")
    if result.passed and not evidence:
        raise NotAResult("it says passed, without evidence")
    if len(result.failures) > MOST_FAILURES:
        notes.append(f"of {len(result.failures)} failures the first {MOST_FAILURES} are kept")
    return replace(result, evidence=evidence, failures=failures)


def _judge(result: JudgeResult) -> JudgeResult:
    """The value of a score is decided elsewhere: its criterion may be unknown, or its number out of range."""
    names = [plain(score.criterion) for score in result.scores]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise NotAResult(f"there are two scores for {one_line(twice, 80)!r}; which of them counts?")
    return JudgeResult(
        scores=tuple(
            replace(score, criterion=name, evidence=cut(plain(score.evidence), LONGEST_EVIDENCE))
            for score, name in zip(result.scores[:MOST_SCORES], names, strict=False)
        )
    )


def _short_text(what: str, text: str, most: int, notes: list[str]) -> str:
    words = plain(text)
    if len(words) > most:
        notes.append(f"{what} has {len(words)} characters and was cut to {most}")
    return cut(words, most)


MOST_ARTIFACTS = 100
LONGEST_PATH = 500


def artifacts_inside(paths: Iterable[str], root: Path) -> tuple[tuple[str, ...], list[str]]:
    """Paths within the tree, relative to it and each once; and the dropped paths, in words."""
    kept: dict[str, None] = {}
    dropped: list[str] = []
    for path in paths:
        tidy = _inside(path, root)
        if tidy is None:
            dropped.append(one_line(path, 80) or "a blank path")
        elif len(kept) < MOST_ARTIFACTS:
            kept[tidy] = None
        elif tidy not in kept:
            dropped.append(tidy)
    return tuple(kept), [_told(dropped)] if dropped else []


def _told(dropped: list[str]) -> str:
    return f"artifacts dropped, being outside of the folder or too many: {listed(dropped)}"


def _inside(path: str, root: Path) -> str | None:
    if not path.strip() or len(path) > LONGEST_PATH or plain(path) != path:
        return None
    try:
        real = os.path.realpath(root)
        whole = os.path.normpath(root / path)
        for top in (os.path.normpath(root), real):
            if whole.startswith(top.rstrip("/") + "/") and os.path.realpath(whole).startswith(real.rstrip("/") + "/"):
                tidy = os.path.relpath(whole, top)
                return None if tidy.split("/")[0] == ".git" else posixpath.normpath(tidy)
    except (OSError, ValueError):
        return None
    return None
