"""The schemas are what the structured output of every model accepts, and what fits them is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aotloop.agents.answers.answer_schema import RESULTS, schema, short_schema
from aotloop.agents.answers.validation import read_result
from aotloop.agents.roles import WAYS, Role

ROLES: list[Role] = list(RESULTS)


def objects(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        for value in node.values():
            yield from objects(value)
    elif isinstance(node, list):
        for value in node:
            yield from objects(value)


@pytest.mark.parametrize("role", ROLES)
def test_a_schema_refers_to_nothing_requires_everything_and_allows_nothing_else(role: Role) -> None:
    text = json.dumps(schema(role))
    assert "$ref" not in text
    assert "$defs" not in text
    assert schema(role)["type"] == "object"
    for one in objects(schema(role)):
        assert one["required"] == list(one["properties"])
        assert one["additionalProperties"] is False


@pytest.mark.parametrize("role", ROLES)
def test_the_deciding_key_comes_first(role: Role) -> None:
    assert next(iter(schema(role)["properties"])) == WAYS[role].deciding_key


@pytest.mark.parametrize("role", ROLES)
def test_no_schema_asks_for_commands(role: Role) -> None:
    for one in objects(schema(role)):
        assert not {"run", "check"} & one["properties"].keys()


@pytest.mark.parametrize("role", ROLES)
def test_what_fits_the_schema_is_read(role: Role) -> None:
    read_result(role, json.dumps(_example(schema(role))), Path())
    for may_split in (True, False):
        short = short_schema(role, may_split=may_split)
        read_result(role, json.dumps(_example(short)), Path())
        read_result(role, json.dumps(_example(short, only_required=True)), Path())


def test_the_schema_in_a_prompt_is_short_and_offers_parts_only_to_one_that_may_split() -> None:
    """Before, it was 2,314 bytes for every worker: more than half of the prompt of a small atom."""
    text = json.dumps(short_schema("worker", may_split=False), separators=(",", ":"))
    assert len(text) < 1000
    assert "proposal" not in text
    parts = json.dumps(short_schema("worker"), separators=(",", ":"))
    assert len(parts) < 2000
    assert "proposal" in parts
    assert not any(word in parts for word in ("null}", "additionalProperties", "we would execute"))


def _example(node: dict[str, Any], *, only_required: bool = False) -> Any:
    example = partial(_example, only_required=only_required)
    if "anyOf" in node:
        return example(node["anyOf"][0])
    if "enum" in node:
        return node["enum"][0]
    if node["type"] == "object":
        names = node["required"] if only_required else node["properties"]
        return {name: example(node["properties"][name]) for name in names}
    if node["type"] == "array":
        return [example(node["items"])] if node["items"].get("type") == "object" else []
    return {"string": "words", "boolean": False, "number": 1.5, "null": None}[node["type"]]
