"""What the trouble was if the service did not do its part, and what it means: to wait, to log in, to do otherwise.

The client tells it in several places, none of which is always filled: in the `result` and in the last error it met.
"""

from __future__ import annotations

from aotloop.agents.claudecode.events import Event
from aotloop.agents.claudecode.looking import count, text
from aotloop.agents.claudecode.story import Story
from aotloop.agents.contract import Cause, Outcome
from aotloop.agents.troubles import Trouble, outcome_of_trouble
from aotloop.agents.wording import one_line

LOG_IN = "Log in with `claude` and /login, or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN."
_WORDS: dict[Cause, str] = {
    "rate_limit": "a rate limit of the service",
    "overload": "the service is overloaded",
    "outage": "the service fails, or cannot be reached",
    "quota": "there is no credit left",
    "auth": "the service does not let it in",
    "refusal": "",
    "too_long": "it is too long for the model",
}
_OUTAGES = {"connection_failed", "stream_idle_timeout"}


def trouble_of(story: Story, result: Event | None) -> Outcome:
    """`result`: None if it was still waiting when it was ended."""
    cause = _cause(story, result or {})
    said = one_line(text((result or {}).get("result")), 500)
    words = ": ".join(filter(None, (_WORDS[cause] if cause is not None else "Claude Code met an error", said)))
    after = story.retry_after if cause == "rate_limit" else None
    return outcome_of_trouble(Trouble(words=words, cause=cause, retry_after=after), LOG_IN)


def _cause(story: Story, result: Event) -> Cause | None:
    if text(result.get("stop_reason")) == "refusal":
        return "refusal"
    if text(result.get("terminal_reason")) == "prompt_too_long":
        return "too_long"
    kinds = {story.trouble, text(result.get("api_error")), text(result.get("api_error_type"))}
    status = count(result.get("api_error_status")) or story.status or 0
    if kinds & {"billing_error", "insufficient_quota"} or status == 402:
        return "quota"
    if kinds & {"authentication_failed", "authentication_error", "oauth_org_not_allowed"} or status in {401, 403}:
        return "auth"
    if not result and not status:
        return "outage"  # it gives no name to a lost connection while it tries again
    return _passing(kinds, status)


def _passing(kinds: set[str], status: int) -> Cause | None:
    """What may be over soon. An error without a name is not among it, lest it be waited for without end."""
    if status == 429 or kinds & {"rate_limit", "rate_limit_error"}:
        return "rate_limit"
    if status == 529 or kinds & {"overloaded", "overloaded_error"}:
        return "overload"
    if status >= 500 or kinds & {"server_error", *_OUTAGES}:
        return "outage"
    return None
