"""What goes wrong at an endpoint, in the words of its server: a trouble that may pass, or a setting that is wrong.

Servers agree on little: an error is an object, a text or a page, at the top or inside, with a status or in a stream.
"""

from __future__ import annotations

import email.utils
import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec
import openai

from aotloop.agents.client.service_errors import Trouble, trouble
from aotloop.clock import unix_time
from aotloop.text.shorten import one_line

_LONGEST_WAIT = 366 * 86400
_LONGEST_QUOTE = 300
_NO_MODEL = re.compile(
    r"model.{0,80}(not found|does not exist|not exist|unknown)|no models? (is )?loaded|model_not_found", re.IGNORECASE
)
_NO_TRUST = re.compile(r"certificate|CERTIFICATE_VERIFY_FAILED|self.signed", re.IGNORECASE)
_BY_V1 = "most addresses of such servers end with /v1"


class Unable(Exception):  # noqa: N818 - reads as a sentence where it is caught
    """The service cannot go on; the trouble says why."""

    def __init__(self, met: Trouble) -> None:
        super().__init__(met.words)
        self.trouble = met


class Unusable(Exception):  # noqa: N818
    """The settings of this endpoint are wrong: no attempt with them can succeed, whatever its task."""


def words_of(error: openai.APIError) -> str:
    """The server's own words, wherever it puts them."""
    told = _told(error.body)
    if told is None and isinstance(error, openai.APIStatusError):
        told = _told(error.response.text)
    return told or str(error)


def words_in(event: Any) -> str | None:
    """The words of an error that comes as an event; None: this is no error."""
    if not isinstance(event, Mapping):
        return None
    is_error = bool(event.get("error")) or event.get("object") == "error"
    return _told(event) or "an error without words" if is_error else None


def refused(error: openai.APIStatusError, url: str, model: str | None) -> Unable | Unusable:
    words = words_of(error)
    if error.status_code in {400, 404} and model is not None and _NO_MODEL.search(words):
        return Unusable(f"the server at {url} has no model {model}: {_quoted(words)}")
    if error.status_code in {404, 405}:
        return Unusable(f"there is no model server at {url} ({error.status_code}: {_quoted(words)}); {_BY_V1}")
    return Unable(trouble(words, error.status_code, _told_wait(error)))


def not_a_stream(url: str, kind: str, body: str) -> str:
    """Something answers, with success, that is no model server: a page to log in, say."""
    return f"what answers at {url} is no model server ({kind or 'no type'}: {_quoted(body)}); {_BY_V1}"


def unreachable(error: Exception, url: str) -> Unable | Unusable:
    why = str(error.__cause__ or error)
    if _NO_TRUST.search(why):
        remedy = "name the file of its certificate in the variable SSL_CERT_FILE"
        return Unusable(f"the certificate of {url} is not trusted ({_quoted(why)}); {remedy}")
    return Unable(Trouble(words=f"no server answers at {url}: {_quoted(why)}", cause="outage"))


def trouble_in(words: str) -> Trouble:
    """An error in the middle of an answer: unless it says more, the service is the cause."""
    met = trouble(words)
    return met if met.cause is not None else msgspec.structs.replace(met, cause="outage")


def _told(value: Any, depth: int = 3) -> str | None:
    """The message inside of an error, with its code if that says more."""
    if isinstance(value, str):
        return _in_text(value, depth)
    if not isinstance(value, Mapping) or not depth:
        return None
    inner = next((told for key in ("message", "error", "detail") if (told := _told(value.get(key), depth - 1))), None)
    if inner is None and value.get("detail"):
        inner = json.dumps(value["detail"])[:_LONGEST_QUOTE]
    code = value.get("code") if isinstance(value.get("code"), str) else None
    kind = value.get("type") if isinstance(value.get("type"), str) else None
    more = next((name for name in (code, kind) if name and inner and "_" in name and name not in inner), None)
    return f"{inner} ({more})" if more else inner


def _in_text(text: str, depth: int) -> str | None:
    if depth and text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return _told(found, depth - 1) or (text if found else None)
    return re.sub(r"<[^>]*>", " ", text).strip() or None


def _told_wait(error: openai.APIStatusError) -> float | None:
    """Seconds; `Retry-After` may also be a date."""
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        told = headers.get(name, "")
        try:
            seconds = float(told) * unit
        except ValueError:
            date = email.utils.parsedate_tz(told)
            seconds = email.utils.mktime_tz(date) - unix_time() if date is not None else -1.0
        if 0 <= seconds < _LONGEST_WAIT:
            return seconds
    return None


def _quoted(words: str) -> str:
    return one_line(words, _LONGEST_QUOTE)
