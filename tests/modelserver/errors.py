"""The errors of real services, as turns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.modelserver.script import Fail


def rate_limited(retry_after: float | None = None, message: str = "Rate limit reached") -> Fail:
    """With the headers by which the services say when to come back."""
    headers = {}
    if retry_after is not None:
        reset = datetime.now(tz=UTC) + timedelta(seconds=retry_after)
        headers = {
            "retry-after": f"{retry_after:g}",
            "retry-after-ms": f"{retry_after * 1000:.0f}",
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": reset.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-reset-requests": f"{retry_after:g}s",
        }
    return Fail(429, "rate_limit_error", message, "rate_limit_exceeded", headers)


def subscription_used_up(resets_in: float = 3600.0) -> Fail:
    """The limit of a subscription: a time some hours away, and no use in trying before."""
    reset = (datetime.now(tz=UTC) + timedelta(seconds=resets_in)).timestamp()
    headers = {
        "retry-after": f"{resets_in:.0f}",
        "anthropic-ratelimit-unified-status": "rejected",
        "anthropic-ratelimit-unified-reset": f"{reset:.0f}",
        "anthropic-ratelimit-unified-representative-claim": "five_hour",
    }
    return Fail(429, "usage_limit_reached", "The usage limit has been reached", "usage_limit_reached", headers)


def overloaded(status: int = 529) -> Fail:
    return Fail(status, "overloaded_error", "Overloaded", "server_is_overloaded")


def server_error(status: int = 500) -> Fail:
    return Fail(status, "api_error", "Internal server error", "server_error")


def unauthorized() -> Fail:
    return Fail(401, "authentication_error", "invalid x-api-key", "invalid_api_key")


def forbidden() -> Fail:
    return Fail(403, "permission_error", "Your API key does not have permission to use this model", "forbidden")


def no_credit() -> Fail:
    """As Anthropic says it."""
    message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade."
    return Fail(400, "invalid_request_error", message, "insufficient_quota")


def no_quota() -> Fail:
    """As OpenAI says it: a 429 for which no waiting helps."""
    message = "You exceeded your current quota, please check your plan and billing details."
    return Fail(429, "insufficient_quota", message, "insufficient_quota")


def too_long() -> Fail:
    message = "prompt is too long: 210000 tokens > 200000 maximum"
    return Fail(400, "invalid_request_error", message, "context_length_exceeded")


def unknown_model() -> Fail:
    return Fail(404, "not_found_error", "model: nobody", "model_not_found")
