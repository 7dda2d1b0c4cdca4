"""The final result of an attempt: the client's last `result` and its exit together; neither alone is proof."""

from __future__ import annotations

import json

from msgspec.structs import replace

from aotloop.agents.answers.answer_outcome import doubted, outcome_of_answer, outcome_of_message
from aotloop.agents.attempt.agent_process import Ran, last_output
from aotloop.agents.attempt.usage import own_share
from aotloop.agents.claude.event_stream import Event, count, number, text
from aotloop.agents.claude.event_summary import Story, tokens_of, trouble_of
from aotloop.agents.contract import Assignment, Cause, Crashed, Failed, Garbage, Outcome, TimedOut
from aotloop.errors import Unavailable
from aotloop.process.spec import Expiry
from aotloop.text.shorten import last_line, one_line

_LONGEST_TAIL = 1000
_UNKNOWN = "No conversation found with session ID"


def outcome_of(ran: Ran, story: Story, assignment: Assignment, output: str) -> Outcome:
    """`output`: the end of its activity, in words. Raises Unavailable if the client could not even begin."""
    result = story.result
    if ran.timed_out is not None:
        outcome = _timed_out(ran.timed_out, story)
    elif result is not None and result.get("is_error") is True:
        outcome = _error(result, story, assignment)
    elif result is None or story.breaks_off:
        outcome = _unfinished(ran, story, last_output(output))
    else:
        outcome = _answered(ran, assignment, result, last_output(output))
    if result is None:
        return replace(outcome, tokens=story.tokens)
    cost, turns = number(result.get("total_cost_usd")), count(result.get("num_turns")) or None
    counted = own_share(replace(outcome, cost_usd=cost, tokens=tokens_of(result)), assignment, story.session or None)
    return replace(counted, turns=turns)


def _timed_out(expiry: Expiry, story: Story) -> Outcome:
    if story.is_waiting and not expiry.taught:  # it was silent because the service made it wait
        return trouble_of(story, None)
    return TimedOut(reason=f"the agent {expiry.reason}", taught=expiry.taught)


def _unfinished(ran: Ran, story: Story, tail: str) -> Outcome:
    if "error: unknown option" in ran.stderr:
        raise Unavailable(
            f"this Claude Code cannot be used: {last_line(ran.stderr, 200)}", hint="Update it with: claude update"
        )
    if ran.exit_code != 0:
        return Crashed(reason=f"{ran.ending} without a result{tail}")
    problem = "its last line breaks off" if story.breaks_off else "without a result"
    return Garbage(reason=f"{ran.ending}, but {problem}{tail}")


def _error(result: Event, story: Story, assignment: Assignment) -> Outcome:
    match text(result.get("subtype")):
        case "error_max_budget_usd":
            return Failed(
                reason=f"it used up the ${assignment.max_cost_usd} that it may cost", taught=True, cause="budget"
            )
        case "error_max_turns":
            return Failed(reason="it used up the turns that it may take", taught=True)
        case "error_max_structured_output_retries":
            return Garbage(reason=f"none of its answers fits the schema: {_errors(result)}")
        case "success":
            return trouble_of(story, result)
        case other:
            cause: Cause | None = "no_session" if _UNKNOWN in _errors(result) else None
            return Crashed(reason=f"Claude Code ended with {other or 'an error'}: {_errors(result)}", cause=cause)


def _answered(ran: Ran, assignment: Assignment, result: Event, tail: str) -> Outcome:
    structured = result.get("structured_output")
    if structured is not None:
        outcome = outcome_of_answer(assignment.role, json.dumps(structured), assignment.cwd)
    else:
        outcome = outcome_of_message(assignment.role, text(result.get("result")), assignment.cwd, tail)
    return doubted(outcome, ran.exit_code, ran.ending, tail)


def _errors(result: Event) -> str:
    errors = result.get("errors")
    reason = "; ".join(map(str, errors)) if isinstance(errors, list) else text(result.get("result"))
    return one_line(reason, _LONGEST_TAIL) or "no reason is given"
