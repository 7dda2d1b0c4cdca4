"""The plain form of unusual YAML: the same values, written so that the fast reader can read them.

A person may use aliases, tags, and lists over several lines. Only their simplest forms are rewritten here: an anchor of
one word or text, that stands once and before its aliases; a tag of text; a list of words. With anything else in the
file, and wherever text could look like such a form, there is none, and the careful reader decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from aotloop.statefile.yaml.text_mask import DOUBLE, ITEM, KEY, SINGLE, WORDS, has_open_quote, stretches

_BEFORE = rb"^(?P<before>(?P<lead>[ ]*(?:-[ ]+)*)%s)[ ]+" % KEY
_END = rb"(?=[ ]*\r?(?:\n|\Z))"
_ANCHOR_OR_ALIAS = rb"%s(?P<mark>[&*])(?P<name>\w+)(?:[ ]+(?P<value>%s|%s|%s))?%s" % (
    _BEFORE,
    DOUBLE,
    SINGLE,
    WORDS,
    _END,
)
_TAG = rb"%s!!str[ ]+(?P<value>%s)%s" % (_BEFORE, WORDS, _END)
_GAP = rb"[ ]*(?:\r?\n[ ]*)?"
_LIST = rb"^(?P<lead>(?P<indent>[ ]*)(?:-[ ]+)*)%s[ ]+\[%s%s(?:\r?\n[ ]*)?(?:,%s%s(?:\r?\n[ ]*)?)*\]%s" % (
    *(KEY, _GAP, ITEM, _GAP, ITEM),
    _END,
)
_OPEN_LIST = rb"\[[^\[\]\n]*\n"
_FORMS = ((rb"!!str", _TAG), (_OPEN_LIST, _LIST), (rb"[&*]", _ANCHOR_OR_ALIAS))
"""What can be rewritten, each behind what is looked for first."""
_FOLLOWING = rb"(?:[ ]*\r?\n)+(?P<indent>[ ]*)(?=[^ \r\n])"
_BLANKS = b" \r"


def plain_form(yaml: bytes) -> bytes | None:
    """None: there is none, or it is not certain."""
    if not any(True for mark, pattern in _FORMS for _ in _found(yaml, mark, pattern)):
        return None
    parts, values, is_clear = [], dict[bytes, bytes](), True
    for text, before in stretches(yaml) or ():
        part = _rewritten(text, values) if before is None else text
        if part is None:
            return None
        parts.append(part)
        is_clear = is_clear and (before is not None or not has_open_quote(part))
    form = b"".join(parts)
    return form if is_clear and form and form != yaml else None


def _rewritten(text: bytes, values: dict[bytes, bytes]) -> bytes | None:
    """`values`: those of the anchors so far."""
    text = _replaced(text, rb"!!str", _TAG, lambda found: found["before"] + b' "' + found["value"] + b'"')
    text = _replaced(text, _OPEN_LIST, _LIST, _joined)
    parts, place = [], 0
    for found in _found(text, rb"[&*]", _ANCHOR_OR_ALIAS):
        name, value = found["name"], found["value"]
        is_alias = found["mark"] == b"*"
        if is_alias is (name not in values) or is_alias is (value is not None):
            return None  # an alias of nothing, a second anchor with this name, or an anchor of something else
        value = values.setdefault(name, value)
        parts += [text[place : found.start()], found["before"], b" ", value]
        place = found.end()
    return b"".join([*parts, text[place:]])


def _found(text: bytes, mark: bytes, pattern: bytes) -> Iterator[re.Match[bytes]]:
    """Lines that match. Only those with the mark are looked at: a search for it is faster than any pattern."""
    done = 0
    for place in re.finditer(mark, text):
        if place.start() < done:
            continue
        found = _compiled(pattern).match(text, text.rfind(b"\n", done, place.start()) + 1 or done)
        done = text.find(b"\n", place.start()) + 1 or len(text)
        if found is not None and not _goes_on(text, found):
            done = max(done, found.end())
            yield found


def _goes_on(text: bytes, found: re.Match[bytes]) -> bool:
    """Whether a deeper line follows, which could be a part of the value."""
    following = _compiled(_FOLLOWING).match(text, found.end())
    return following is not None and len(following["indent"]) > len(found["lead"])


def _replaced(text: bytes, mark: bytes, pattern: bytes, by: Callable[[re.Match[bytes]], bytes]) -> bytes:
    parts, place = [], 0
    for found in _found(text, mark, pattern):
        parts += [text[place : found.start()], by(found)]
        place = found.end()
    return b"".join([*parts, text[place:]]) if parts else text


def _joined(found: re.Match[bytes]) -> bytes:
    """In one line, if no line is less deep than the key, or looks like the end of a document."""
    first, *lines = found[0].split(b"\n")
    indent = found["indent"]
    is_deep = all(line.startswith(indent) and not line.startswith(b"---") for line in lines)
    return b" ".join([first.rstrip(_BLANKS), *[line.strip(_BLANKS) for line in lines]]) if is_deep else found[0]


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern, re.MULTILINE)
