"""The formats of plans: the content decides, not the file name. JSON is known by its keys; other text is Markdown."""

from __future__ import annotations

from typing import Any

import msgspec

from aotloop.importers.markdown import read_markdown
from aotloop.importers.plan import Plan, invalid
from aotloop.importers.prd import is_prd, read_prd
from aotloop.importers.taskmaster import is_taskmaster, read_taskmaster

LARGEST = 4_000_000
"""Bytes. A person cannot agree to a longer plan."""

KNOWN = "Known are: Markdown lists, prd.json (userStories), and task-master's tasks.json (tasks)."


def read_plan(data: bytes, name: str, *, tag: str | None = None) -> Plan:
    """`tag` selects a list in a tasks.json with several lists. Raises AotError for a file that cannot be used."""
    if len(data) > LARGEST:
        raise invalid(name, f"it is longer than {LARGEST} bytes", "Is this the right file?")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise invalid(name, f"line {line}: not valid UTF-8", "Save the file as UTF-8.") from None
    if not text.strip():
        raise invalid(name, "there is nothing in it")
    if name.lower().endswith(".json") or text.lstrip().startswith("{"):
        return _read_json(text, name, tag)
    return read_markdown(text, name)


def _read_json(text: str, name: str, tag: str | None) -> Plan:
    try:
        found: Any = msgspec.json.decode(text.encode())
    except msgspec.DecodeError as error:
        raise invalid(name, f"it is not valid JSON: {error}") from None
    except (RecursionError, ValueError):
        raise invalid(name, "it is nested too deeply, or has a number of too many digits") from None
    if is_prd(found):
        return read_prd(found, name)
    if is_taskmaster(found):
        return read_taskmaster(found, name, tag)
    raise invalid(name, "this form of JSON is unknown", KNOWN)
