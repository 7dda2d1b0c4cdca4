"""Errors as Ollama, vLLM, llama.cpp, LM Studio and others word them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import formatdate
from functools import lru_cache
from typing import Any

import httpx2
import openai
import pytest

from aotloop.agents.openai.endpoint_errors import Unable, Unusable, refused, trouble_in, unreachable, words_in, words_of
from aotloop.clock import unix_time

URL = "http://127.0.0.1:1/v1"


def error(status: int, body: object, headers: Mapping[str, str] | None = None) -> openai.APIStatusError:
    """As the client makes it of a response."""
    text = body if isinstance(body, str) else json.dumps(body)
    response = httpx2.Response(status, text=text, headers=headers, request=httpx2.Request("POST", URL))
    return _client()._make_status_error_from_response(response)


@lru_cache
def _client() -> openai.OpenAI:
    return openai.OpenAI(api_key="none", base_url=URL)


def nested(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "api_error", "param": None, "code": None, **more}}


def flat(message: str, code: int = 400) -> dict[str, Any]:
    return {"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": code}


TOO_LONG = [
    (400, flat("This model's maximum context length is 2048 tokens. However, you requested 2500 tokens (1500 in …)")),
    (400, nested("'max_tokens' is too large: 8192. This model's maximum context length is 4096 tokens", code=400)),
    (400, nested("the request exceeds the available context size. try increasing the context size", code=400)),
    (400, nested("request (9 tokens) exceeds the available context size (8 tokens)", type="exceed_context_size_error")),
    (500, nested("input is too large to process. increase the physical batch size", code=500, type="server_error")),
    (400, {"error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is …"}),
    (400, nested("input length exceeds maximum context length")),
    (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.", "error_type": "x"}),
    (400, nested("Your input exceeds the limit", code="context_length_exceeded")),
    (413, "<html><h1>413 Request Entity Too Large</h1></html>"),
]
OTHERS = [
    (503, nested("Loading model", code=503, type="unavailable_error"), "overload"),
    (500, nested("model requires more system memory (8.0 GiB) than is available (4.0 GiB)"), "outage"),
    (502, "<html>502 Bad Gateway nginx</html>", "outage"),
    (429, {}, "rate_limit"),
    (429, "<html><h1>Too many</h1></html>", "rate_limit"),
    (429, nested("You exceeded your current quota"), "quota"),
    (402, nested("Insufficient credits", code=402), "quota"),
    (401, {"detail": "Unauthorized"}, "auth"),
    (401, "Invalid API Key", "auth"),
    (403, "<html>no</html>", "auth"),
    (400, nested("something else"), None),
    (400, {"error": {"error": {"error": {"error": "deep"}}}}, None),
    (400, "[" * 3000, None),
]


@pytest.mark.parametrize(
    ("status", "body", "cause"), [*((status, body, "too_long") for status, body in TOO_LONG), *OTHERS]
)
def test_every_wording_has_its_cause(status: int, body: object, cause: str | None) -> None:
    met = refused(error(status, body), URL, "m")
    assert isinstance(met, Unable)
    assert met.trouble.cause == cause
    assert met.trouble.words not in {"", "{}"}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, nested('model "m" not found, try pulling it first')),
        (404, flat("The model `m` does not exist.", 404)),
        (404, {"error": "model 'm' not found"}),
        (400, nested("No models loaded. Please load a model in the developer page", param="model")),
        (404, nested('Model "m" not found', code="model_not_found")),
    ],
)
def test_a_model_that_is_not_there_is_a_setting_to_correct(status: int, body: object) -> None:
    met = refused(error(status, body), URL, "m")
    assert isinstance(met, Unusable)
    assert f"{URL} has no model m" in str(met)


@pytest.mark.parametrize(("status", "body"), [(404, "404 page not found"), (405, {"detail": "Method Not Allowed"})])
def test_an_address_without_a_model_server_is_a_setting_to_correct(status: int, body: object) -> None:
    met = refused(error(status, body), URL, "m")
    assert isinstance(met, Unusable)
    assert "end with /v1" in str(met)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "1e99"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Wed, 99 Foo 2026"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_told_in_headers(headers: dict[str, str], seconds: float | None) -> None:
    met = refused(error(429, nested("slow down"), headers), URL, "m")
    assert isinstance(met, Unable)
    assert met.trouble.retry_after == seconds


def test_how_long_to_wait_may_be_a_date() -> None:
    met = refused(error(429, nested("slow"), {"Retry-After": formatdate(unix_time() + 90, usegmt=True)}), URL, "m")
    assert isinstance(met, Unable)
    assert 60 < (met.trouble.retry_after or 0) <= 90


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"error": {"message": "it broke"}}, "it broke"),
        ({"error": "it broke"}, "it broke"),
        (flat("it broke"), "it broke"),
        ({"error": {}}, None),
        ({"error": {"x": 1}}, "an error without words"),
        ({"choices": []}, None),
        (5, None),
    ],
)
def test_an_error_may_come_as_an_event(event: object, words: str | None) -> None:
    assert words_in(event) == words


def test_an_error_in_a_stream_without_more_is_an_outage() -> None:
    assert trouble_in("Model has unloaded or crashed.").cause == "outage"
    assert trouble_in("exceeds the available context size").cause == "too_long"


def test_the_words_of_a_page_are_told_without_its_marks() -> None:
    assert words_of(error(500, "<html><h1>Sorry</h1></html>")) == "Sorry"


def test_a_certificate_that_is_not_trusted_is_a_setting_and_no_outage() -> None:
    why = OSError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")
    assert "SSL_CERT_FILE" in str(unreachable(why, URL))
    refusal = unreachable(ConnectionRefusedError("refused"), URL)
    assert isinstance(refusal, Unable)
    assert refusal.trouble.cause == "outage"
