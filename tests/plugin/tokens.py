"""The token of an attempt, as a model reads it from the answers of `update_atom` and `integrate --next`."""

from __future__ import annotations

import re

from tests.modelserver.exchange import Exchange

_TOKEN = re.compile(r'"token":\s*"(\w+)"')


def token_in(exchange: Exchange, atom: str) -> str:
    """The last one that was given for this atom."""
    lines = [line for result in exchange.results for line in result.splitlines()]
    begun = re.compile(rf'"worker":{{[^}}]*"{atom}":\s*"(\w+)"')
    found = [begun.search(line) or _TOKEN.search(line) for line in lines if f'"{atom}"' in line]
    return next(match[1] for match in reversed(found) if match is not None)
