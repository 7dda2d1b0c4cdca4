"""Which atoms a piece of news is about: whatever its kind, by the names it holds."""

from __future__ import annotations

from aotloop.runner.news import News

_ONE = ("atom", "left", "selected")
_SEVERAL = ("atoms", "parents", "choices", "again")


def is_about(one: News, atom: str) -> bool:
    return any(getattr(one, field, None) == atom for field in _ONE) or any(
        atom in getattr(one, field, ()) for field in _SEVERAL
    )
