"""Readers of the keys of a model behind an address: where it is, which variable has its key, how it is asked."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from aotloop.config.values import Place, filled_text, kind_of, shown

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HOTTEST = 2.0
_EXAMPLE = 'For example: base_url = "http://127.0.0.1:11434/v1"'


def address(value: object, at: Place) -> str:
    """A URL without a user, a password or a query: keys do not belong into a file that others read."""
    url = filled_text(value, at).rstrip("/")
    may_hold_a_key = any(mark in url for mark in "@?#")
    wrong = at.mistake(f"{'this' if may_hold_a_key else shown(url)} is not an address", _EXAMPLE)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0 or not url.isprintable() or " " in url:
        raise wrong
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise at.mistake(
            "has a user, a password or a query in it", "Put the key into a variable, and name that: key = NAME"
        )
    return url


def plain_variable(value: object, at: Place) -> str:
    """The name of one variable. A key itself is refused, and not repeated."""
    name = filled_text(value, at)
    if not _NAME.fullmatch(name):
        raise at.mistake("must be the name of a variable, not the key itself", 'For example: key = "OPENAI_API_KEY"')
    return name


def temperature(value: object, at: Place) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise at.mistake(f"must be a number, and is {kind_of(value)}")
    if not 0 <= value <= _HOTTEST:
        raise at.mistake(f"must be from 0 to {_HOTTEST:g}")
    return float(value)


def tools(value: object, at: Place) -> str:
    """true, false or "auto"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value != "auto":
        raise at.mistake(f'must be true, false or "auto", and is {kind_of(value)}')
    return "auto"
