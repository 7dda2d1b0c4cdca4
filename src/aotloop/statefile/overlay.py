"""Carries a change over to data that holds more than we know of: what we do not know stays as it is."""

from __future__ import annotations

from typing import Any


def overlay(raw: Any, old: Any, new: Any) -> Any:
    """`raw` is all that stands in the file, `old` what we knew of it, `new` what that shall become.

    What we know of is taken from `new` even where it has not changed: there, text is text, however it was written.
    """
    if isinstance(raw, dict) and isinstance(old, dict) and isinstance(new, dict):
        result = {key: value for key, value in raw.items() if key in new or key not in old}
        for key, value in new.items():
            if key in raw:
                result[key] = overlay(raw[key], old.get(key), value)
            elif key not in old or old[key] != value:
                result[key] = value
        return result
    if isinstance(raw, list) and isinstance(old, list) and isinstance(new, list) and len(raw) == len(old):
        sources = matches(old, new)
        return [
            value if source is None else overlay(raw[source], old[source], value)
            for source, value in zip(sources, new, strict=True)
        ]
    return new


def matches(old: list[Any], new: list[Any]) -> list[int | None]:
    """For every new entry, which old one it continues: the same value, or else the one of the same name."""
    by_name: dict[Any, int] = {}
    for number, entry in enumerate(old):
        by_name.setdefault(_name(entry), number)
    taken: set[int] = set()
    result: list[int | None] = []
    for number, entry in enumerate(new):
        same_place = number < len(old) and old[number] == entry
        source = number if same_place else by_name.get(_name(entry))
        if source in taken:
            source = None
        if source is not None:
            taken.add(source)
        result.append(source)
    return result


def _name(entry: Any) -> Any:
    """What tells an entry from its neighbours: an atom's id, an item's name, a decomposition's parent."""
    if isinstance(entry, dict):
        for key in ("id", "item", "criterion", "parent"):
            if isinstance(entry.get(key), str):
                return (key, entry[key])
        return repr(entry)
    return repr(entry)
