"""Secrets are replaced in every usual form, and ordinary text stays as it is."""

from __future__ import annotations

import base64
import html
import json
import shlex
from collections.abc import Callable
from functools import partial
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.text.secrets import MARK, SHORTEST, Secrets, secret_values, variables_in


@pytest.mark.parametrize(
    "secret",
    [
        "sk-" + "ant-api03-abcdefghijklmnop",
        "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1",
        "github_pat_" + "11ABCDEFG0abcdefghijkl",
        "glpat-" + "abcdefghij0123456789",
        "xoxb-" + "1234567890-abcdefghij",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
        "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
        "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_keys_of_usual_forms_are_replaced(secret: str) -> None:
    assert Secrets().hidden(f"before {secret} after") == f"before {MARK} after"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("https://me:hunter2@example.org/x", f"https://{MARK}@example.org/x"),
        ("Authorization: Bearer abcdef123456", f"Authorization: Bearer {MARK}"),
        ('{"api_key": "0123456789abcdef"}', f'{{"api_key": "{MARK}"}}'),
        ("DEPLOY_TOKEN=f00ba4f00ba4", f"DEPLOY_TOKEN={MARK}"),
    ],
)
def test_values_are_replaced_where_their_place_says_what_they_are(text: str, left: str) -> None:
    assert Secrets().hidden(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "token = request.headers.get(name)",
        "the key of the door is under the mat",
        "def password_field(self): return None",
        "https://example.org:8080/a@b",
        "for key in sorted(mapping): print(key)",
        "commit 0123456789abcdef0123456789abcdef01234567",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Secrets().hidden(text) == text


def test_values_of_variables_are_replaced_in_every_way_they_are_written() -> None:
    value = 'p@ss "word" 1'
    secrets = Secrets(secret_values({"DB_PASSWORD": value, "PATH": "/usr/local/bin", "SSH_AUTH_SOCK": "/run/agent.1"}))
    told = secrets.hidden(f'{value} | p%40ss%20%22word%22%201 | p@ss \\"word\\" 1 | /usr/local/bin | /run/agent.1')
    assert told == f"{MARK} | {MARK} | {MARK} | /usr/local/bin | /run/agent.1"


def test_each_line_of_a_secret_of_several_lines_is_replaced() -> None:
    secrets = Secrets(secret_values({"SIGNING_KEY": "first-line-1\nsecond-line-2\n"}))
    assert secrets.hidden("+second-line-2\n first-line-1") == f"+{MARK}\n {MARK}"


def test_a_short_value_is_no_secret() -> None:
    assert Secrets(secret_values({"API_KEY": "test"})).hidden("run the test") == "run the test"


def test_files_of_variables_are_read() -> None:
    text = "# comment\nexport A_TOKEN='one two'\nB=2\nnothing\n"
    assert variables_in(text) == {"A_TOKEN": "one two", "B": "2"}


def test_a_very_long_line_is_read_once() -> None:
    text = "key" * 100_000 + "://" * 50_000 + "eyJ" * 100_000
    assert Secrets(["abcdefgh"]).hidden(text) == text


WAYS: list[Callable[[str], str]] = [
    str,
    json.dumps,
    partial(json.dumps, ensure_ascii=False),
    repr,
    quote,
    quote_plus,
    partial(quote, safe=""),
    html.escape,
    shlex.quote,
    lambda value: base64.b64encode(value.encode()).decode(),
    lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
    lambda value: base64.b64encode(f"user:{value}".encode()).decode(),
    lambda value: base64.urlsafe_b64encode(f"KEY={value}\nB=1\n".encode()).decode(),
    lambda value: base64.b64encode(f"A=123; {value}.".encode()).decode(),
    lambda value: value.encode().hex().upper(),
]


@given(
    st.text(
        st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["Cs", "Zs", "Cc"]), min_size=SHORTEST
    )
)
def test_a_known_value_is_found_however_a_program_prints_it(value: str) -> None:
    secrets = Secrets([value])
    for way in WAYS:
        assert value not in secrets.hidden(f"before {way(value)} after").replace(MARK, ""), way
        assert MARK in secrets.hidden(f"before {way(value)} after"), way
