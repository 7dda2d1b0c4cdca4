"""What a service says when it does not do its part is understood, whoever hands it on."""

from __future__ import annotations

import pytest

from aotloop.agents.client.service_errors import Trouble, outcome_of_trouble, trouble
from aotloop.agents.contract import Crashed, Failed, MustWait


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("exceeded retry limit, last status: 429 Too Many Requests", "rate_limit"),
        ("You've hit your usage limit. Upgrade your plan or billing, or try again later.", "rate_limit"),
        ("Quota exceeded. Check your plan and billing details.", "quota"),
        ("Your credit balance is too low to access the Anthropic API.", "quota"),
        ("unexpected status 401 Unauthorized: invalid x-api-key, url: http://127.0.0.1:50331/v1/responses", "auth"),
        ("Missing environment variable: OPENAI_API_KEY", "auth"),
        ("Selected model is at capacity. Please try a different model.", "overload"),
        ("unexpected status 529 : Overloaded", "overload"),
        ("We are currently experiencing high demand, which may cause temporary errors.", "overload"),
        ("stream disconnected before completion: idle timeout waiting for SSE", "outage"),
        ("Connection failed: error sending request", "outage"),
        ("Internal error: Internal server error", "outage"),
        ("prompt is too long: 210000 tokens > 200000 maximum", "too_long"),
        ("ContentFilterError: The response was blocked by the provider's content filter", "refusal"),
        ("something else", None),
        ("the atom needs 500000 widgets", None),
    ],
)
def test_words_have_a_cause(words: str, cause: str | None) -> None:
    assert trouble(words).cause == cause


@pytest.mark.parametrize(
    ("words", "status", "cause"),
    [
        ("no", 429, "rate_limit"),
        ("insufficient_quota", 429, "quota"),
        ("no", 401, "auth"),
        ("no", 403, "auth"),
        ("no", 500, "outage"),
        ("no", 529, "overload"),
        ("no", 418, None),
        ("prompt is too long", 400, "too_long"),
    ],
)
def test_a_status_says_more_than_words(words: str, status: int, cause: str | None) -> None:
    assert trouble(words, status).cause == cause


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit: try again in 1.5s.", 1.5),
        ("usage limit; try again in 2 hours 3 minutes", 7380),
        ("Please retry after 20 seconds", 20),
        ("try again in 500ms", 0.5),
        ("try again later", None),
        ("try again at 3 PM", None),
    ],
)
def test_when_to_come_back_is_read_where_it_is_told(words: str, seconds: float | None) -> None:
    assert trouble(words).retry_after == seconds
    assert trouble(words, retry_after=7).retry_after == 7


def test_some_things_pass_and_others_are_for_a_person() -> None:
    waits = outcome_of_trouble(trouble("rate limit, try again in 5s"), "Log in.")
    assert isinstance(waits, MustWait)
    assert (waits.retry_after, waits.cause) == (5, "rate_limit")
    login = outcome_of_trouble(trouble("401"), "Log in.")
    assert isinstance(login, Failed)
    assert (login.reason, login.cause, login.taught) == ("401\nLog in.", "auth", False)
    refused = outcome_of_trouble(Trouble(words="", cause="refusal"), "Log in.")
    assert isinstance(refused, Failed)
    assert (refused.reason, refused.cause, refused.taught) == ("the model refuses", "refusal", False)
    spent = outcome_of_trouble(trouble("insufficient_quota"), "Log in.")
    assert isinstance(spent, Failed)
    assert (spent.cause, spent.taught) == ("quota", False)
    assert spent.reason.startswith("insufficient_quota\nAdd credit")
    assert isinstance(outcome_of_trouble(trouble("who knows"), "Log in."), Crashed)
