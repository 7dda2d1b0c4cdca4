"""Secrets in text are replaced here, before the text leaves the machine or is written for others.

Known values come from variables whose names look like secrets; unknown ones are found by the form of usual keys.
A secret of another form that no variable holds is not found: what is shared has to be read first.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from urllib.parse import quote, quote_plus

MARK = "[secret]"
SHORTEST = 8
"""A shorter value is too common to be replaced everywhere."""

_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?(?:_|$)|CREDENTIAL|AUTH(?:_|$)|COOKIE|BEARER|DSN|_PAT$", re.IGNORECASE
)
_NO_SECRETS = re.compile(r"_(?:PATH|FILE|DIR|SOCK|ID|TYPE|NAME|URL_PATH)$|^SSH_AUTH_SOCK$", re.IGNORECASE)

_FORMS = re.compile(
    r"""
    -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----(?:(?!-----)[\s\S]){0,20000}(?:-----END\ [A-Z ]*PRIVATE\ KEY-----)?
    | \bsk-[A-Za-z0-9_-]{16,}                              # OpenAI, Anthropic and others
    | \b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}        # Stripe
    | \bgh[pousr]_[A-Za-z0-9]{20,} | \bgithub_pat_\w{20,}
    | \bglpat-[A-Za-z0-9_-]{16,}
    | \bxox[a-z]-[A-Za-z0-9-]{10,}                         # Slack
    | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
    | \bAIza[A-Za-z0-9_-]{30,}
    | \bhf_[A-Za-z0-9]{20,} | \bnpm_[A-Za-z0-9]{30,} | \bpypi-[A-Za-z0-9_-]{30,}
    | \beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?
    """,
    re.VERBOSE,
)
_ADDRESSES = re.compile(r"(?<=://)[^\s/@:'\"<>]{0,200}:[^\s/@'\"<>]{1,500}(?=@)")
_HEADERS = re.compile(
    r"(?i)\b((?:proxy-)?authorization\s*[:=]\s*[\"']?\s*(?:(?:bearer|basic|token)\s+)?)[^\s\"',;]{8,}"
)
_BEARER = re.compile(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{16,}")
_ASSIGNED = re.compile(
    r"(?i)(\b\w{0,60}(?:key|token|secret|passwd|password|credential)\w{0,30}[\"']?\s{0,4}[=:]\s{0,4}[\"']?)"
    r"(?=[^\s\"']{0,200}\d)([\w+/=.-]{12,})"
)


_URL_SAFE = str.maketrans("+/", "-_")


class Secrets:
    """What has to be replaced: the values that are known, and everything that has the form of a key."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        forms = {form for value in known for form in _written(value)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def without_known(self, text: str) -> str:
        """The text with a mark in place of each value that is known. What only has the form of a key stays."""
        return self._known.sub(MARK, text) if self._known is not None else text

    def hidden(self, text: str) -> str:
        """The text with a mark in place of each secret."""
        text = self.without_known(text)
        text = _ADDRESSES.sub(MARK, _FORMS.sub(MARK, text))
        text = _BEARER.sub(rf"\1{MARK}", _HEADERS.sub(rf"\1{MARK}", text))
        return _ASSIGNED.sub(rf"\1{MARK}", text)


def secret_values(variables: Mapping[str, str]) -> Iterator[str]:
    """The values of variables whose names look like secrets, and the passwords in addresses."""
    for name, value in variables.items():
        if is_secret(name):
            yield value
        yield from (found.partition(":")[2] for found in _ADDRESSES.findall(value))


def is_secret(name: str) -> bool:
    """Whether a variable of this name usually holds a secret."""
    return _NAMES.search(name) is not None and _NO_SECRETS.search(name) is None


def variables_in(text: str) -> dict[str, str]:
    """Of a file such as `.env`: NAME=VALUE, with or without quotes."""
    lines = (line.strip().removeprefix("export ").partition("=") for line in text.splitlines())
    return {name.strip(): value.strip().strip("\"'") for name, sign, value in lines if sign and name.strip()}


def _written(value: str) -> Iterator[str]:
    """As programs print it: whole or line by line; quoted for an address, JSON, HTML or a shell; or in base64."""
    for part in (value, *value.splitlines()):
        if len(bare := part.strip()) >= SHORTEST:
            yield from (
                bare,
                quote(bare, safe=""),
                quote(bare),
                quote_plus(bare),
                escape(bare),
                escape(bare, quote=False),
            )
            yield from (json.dumps(bare)[1:-1], json.dumps(bare, ensure_ascii=False)[1:-1], repr(bare)[1:-1])
            yield bare.replace("'", "'\"'\"'")
            data = bare.encode("utf-8", "surrogateescape")
            yield from (data.hex(), data.hex().upper(), b64encode(data).decode().rstrip("="))
            yield from (form for inside in _in_base64(data) for form in (inside, inside.translate(_URL_SAFE)))


def _in_base64(data: bytes) -> Iterator[str]:
    """As a part of something longer in base64: three bytes are four characters, so there are three ways."""
    for before in range(3):
        written = b64encode(bytes(before) + data).decode()
        rest = (before + len(data)) % 3
        inside = written[(0, 2, 3)[before] : len(written) - (0, 3, 2)[rest]]
        if len(inside) >= SHORTEST:
            yield inside
