"""The results that agents answer: one small object for each role, and its JSON schema for the request."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from aotloop.agents.roles import Role


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an answer; unknown keys are ignored, and null means that the key is absent."""


CheckKind = Literal["command", "not_command", "file", "not_file", "assertion", "quality"]


class AskedQuestion(Answer, frozen=True, kw_only=True):
    question: Annotated[str, Meta(description="about what is to be achieved, or when it is; never about how")]
    choices: Annotated[tuple[str, ...], Meta(description="likely answers, the best guess first; may be empty")] = ()


class PlannedCheck(Answer, frozen=True, kw_only=True):
    item: Annotated[str, Meta(description="what holds when this passes, in a few words")]
    type: CheckKind
    value: Annotated[str, Meta(description="a command, a path or glob, or a sentence to be judged")]


class PlannedAtom(Answer, frozen=True, kw_only=True):
    name: Annotated[str, Meta(description="a short name by which others depend on it")]
    description: Annotated[str, Meta(description="the task, complete for an agent that reads only this text")]
    depends_on: Annotated[tuple[str, ...], Meta(description="names of those it builds on")] = ()
    or_group: Annotated[str | None, Meta(description="the same word for alternatives of which one is enough")] = None
    touches: Annotated[tuple[str, ...], Meta(description="globs of what it changes, if that is sure")] = ()
    estimate: Annotated[float | None, Meta(description="minutes of work")] = None
    covers: Annotated[
        tuple[str, ...], Meta(description="items of the checklist that hold once it is done; they are its check")
    ] = ()


class Plan(Answer, frozen=True, kw_only=True):
    goal: Annotated[str, Meta(description="one sentence")]
    background_intent: Annotated[str, Meta(description="why it is wanted")]
    deliverables: Annotated[str, Meta(description="what will be there in the end")]
    definition_of_done: Annotated[str, Meta(description="when it is complete, in words")]
    checklist: Annotated[tuple[PlannedCheck, ...], Meta(description="how a machine sees that it is complete")]
    protect: Annotated[tuple[str, ...], Meta(description="globs of files that no agent may change")] = ()
    atoms: tuple[PlannedAtom, ...] = ()


class PlannerResult(Answer, frozen=True, kw_only=True):
    questions: Annotated[tuple[AskedQuestion, ...], Meta(description="what only the person can say; else empty")]
    plan: Annotated[Plan | None, Meta(description="if nothing is left to be asked: the proposal; else null")] = None


class ProposedChild(Answer, frozen=True, kw_only=True):
    name: Annotated[str | None, Meta(description="a short name by which other parts can depend on it")] = None
    description: Annotated[str, Meta(description="the task, complete for an agent that reads only this text")]
    depends_on: Annotated[tuple[str, ...], Meta(description="names of parts, or ids of atoms, it builds on")] = ()
    or_group: Annotated[str | None, Meta(description="the same word for parts of which only one is needed")] = None
    estimate: Annotated[float | None, Meta(description="minutes of work")] = None
    covers: Annotated[
        tuple[str, ...], Meta(description="items that hold once this part is done, by the names you were told; or none")
    ] = ()
    probe: Annotated[bool, Meta(description="true if it is doubtful whether it can be done at all")] = False


class Proposal(Answer, frozen=True, kw_only=True):
    """An agent describes parts; it never writes commands that we would execute."""

    reason: Annotated[str, Meta(description="why it should be split")] = ""
    children: tuple[ProposedChild, ...]


class BindingsDelta(Answer, frozen=True, kw_only=True):
    summary: Annotated[str, Meta(description="what was done and what others need to know to build on it")] = ""
    artifacts: Annotated[tuple[str, ...], Meta(description="paths others will need, relative to the folder")] = ()


class WorkerResult(Answer, frozen=True, kw_only=True):
    success: Annotated[bool, Meta(description="true only if the atom is done")]
    bindings_delta: BindingsDelta = BindingsDelta()
    artifacts: Annotated[tuple[str, ...], Meta(description="paths made or changed, relative to the folder")] = ()
    reason: Annotated[str, Meta(description="if not done: the cause, for the next attempt; else empty")] = ""
    because_of: Annotated[
        tuple[str, ...], Meta(description="if not done: atoms whose results block the work; else empty")
    ] = ()
    wants_probe: Annotated[
        bool, Meta(description="if not done: true if a probe should first find out whether it can be done at all")
    ] = False
    proposal: Annotated[
        Proposal | None, Meta(description="only if a rule permits it: the parts, with success false; else null")
    ] = None


class ProbeResult(Answer, frozen=True, kw_only=True):
    feasible: Annotated[bool, Meta(description="whether the atom can be done this way")]
    findings: Annotated[str, Meta(description="what was found out, and how it is known")]
    cost_estimate: Annotated[float | None, Meta(description="minutes of work to do it; null if unknown")] = None
    proposal: Annotated[Proposal | None, Meta(description="only if a rule permits it: its parts; else null")] = None


class VerifierResult(Answer, frozen=True, kw_only=True):
    passed: Annotated[bool, Meta(description="true only if all of it holds")]
    evidence: Annotated[str, Meta(description="what was looked at or run, and what it showed")]
    failures: Annotated[tuple[str, ...], Meta(description="what does not hold; empty if passed")] = ()


class Score(Answer, frozen=True, kw_only=True):
    criterion: Annotated[str, Meta(description="its name, as given")]
    score: Annotated[float, Meta(description="from 1 to 5")]
    evidence: Annotated[str, Meta(description="file:line and the words that stand there, and what they show")] = ""


class JudgeResult(Answer, frozen=True, kw_only=True):
    """We compute whether the scores are enough."""

    scores: Annotated[tuple[Score, ...], Meta(description="one for each criterion")]


Result = WorkerResult | ProbeResult | VerifierResult | JudgeResult | PlannerResult

RESULTS: dict[Role, type[Result]] = {
    "worker": WorkerResult,
    "probe": ProbeResult,
    "verifier": VerifierResult,
    "judge": JudgeResult,
    "planner": PlannerResult,
}

EXAMPLES: dict[Role, str] = {
    "worker": '{"success": true, "bindings_delta": {"summary": "what was done", "artifacts": ["path/of/a/file"]}}',
    "probe": '{"feasible": true, "findings": "what was found"}',
    "verifier": '{"passed": false, "evidence": "what was looked at", "failures": ["what does not hold"]}',
    "judge": '{"scores": [{"criterion": "its name", "score": 4, "evidence": "file:line and its words"}]}',
    "planner": '{"questions": [{"question": "What should it be called?", "choices": []}]}',
}
"""A complete answer of each role, for messages about answers that do not fit."""


_WANTED = {"bindings_delta", "summary", "evidence"}
"""An answer without them can be read, but others cannot build on it."""


def schema(role: Role) -> dict[str, Any]:
    (root,), definitions = msgspec.json.schema_components([RESULTS[role]], ref_template="{name}")
    return _inlined(root, definitions)


def short_schema(role: Role, *, may_split: bool = True) -> dict[str, Any]:
    """For the text of a prompt: what may be absent is not required, and nothing says that it may be null.

    It is half as long, and what fits it is read as well. Without `may_split` it offers no proposal.
    """
    short = _short(schema(role), RESULTS[role])
    if not may_split:
        short["properties"].pop("proposal", None)
    return short


def _short(node: dict[str, Any], kind: Any) -> dict[str, Any]:
    if get_origin(kind) in (Union, UnionType):  # or null
        kind = next(part for part in get_args(kind) if part is not NoneType)
        node = {**node["anyOf"][0], **{key: text for key, text in node.items() if key == "description"}}
    if "items" in node:
        return {**node, "items": _short(node["items"], get_args(kind)[0])}
    if "properties" not in node:
        return node
    types = get_type_hints(kind)
    properties = {name: _short(part, types[name]) for name, part in node["properties"].items()}
    required = [field.name for field in msgspec.structs.fields(kind) if field.required or field.name in _WANTED]
    kept = {key: value for key, value in node.items() if key != "additionalProperties"}
    return kept | {"properties": properties, "required": required}


def _inlined(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema with every reference replaced by its definition; no result contains itself."""
    if "$ref" in node:
        own = {key: value for key, value in node.items() if key != "$ref"}
        # The description of a type is for engineers: it is its docstring.
        node = {**{key: text for key, text in definitions[node["$ref"]].items() if key != "description"}, **own}
    plain = {key: value for key, value in node.items() if key not in {"title", "default"}}
    if "anyOf" in plain:
        plain["anyOf"] = [_inlined(schema, definitions) for schema in plain["anyOf"]]
    if "items" in plain:
        plain["items"] = _inlined(plain["items"], definitions)
    if "properties" in plain:
        properties = {name: _inlined(schema, definitions) for name, schema in plain["properties"].items()}
        plain |= {"properties": properties, "required": list(properties), "additionalProperties": False}
    return plain
