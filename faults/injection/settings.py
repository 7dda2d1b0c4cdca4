"""Every key of an aot.toml, as its own tables have them, with a text or a list of texts in its place."""

from __future__ import annotations

import json

from aotloop.config import tables

Place = tuple[str, ...]
"""The table, the key in it, and whether a text stands there or a list."""

_TABLES = {"": tables.KEYS, "agents.x": tables._AGENT, "roles.worker": tables._ROLE, "ship": tables._SHIP}  # noqa: SLF001
_BEGINNINGS = {"agents.x": 'agent = "x"\n[agents.x]\n', "roles.worker": "[roles.worker]\n", "ship": "[ship]\n"}
_FORMS = {"text": "{key} = {text}", "list": "{key} = [{text}, {text}]", "table": "[{key}]\n{text} = {text}"}
_PROGRAMS = {"claude": "program", "codex": "program", "opencode": "program", "acp": "argv"}


def places() -> list[Place]:
    found = [(table, key, form) for table, keys in _TABLES.items() for key in keys for form in ("text", "list")]
    found += [("", key, "table") for key in tables.KEYS]
    return [*found, *(("agents.x", kind, "kind") for kind in _PROGRAMS)]


def written(place: Place, text: str) -> str:
    table, key, form = place
    quoted = json.dumps(text)  # a TOML text in double quotes has the same escapes
    if form == "kind":
        value = f"[{quoted}]" if _PROGRAMS[key] == "argv" else quoted
        return f'{_BEGINNINGS[table]}kind = "{key}"\n{_PROGRAMS[key]} = {value}\n'
    return _BEGINNINGS.get(table, "") + _FORMS[form].replace("{key}", key).replace("{text}", quoted) + "\n"
