"""Whatever bytes a file holds, it is read as a plan or refused in words, and never anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.errors import AotError
from aotloop.importers.formats import read_plan
from aotloop.importers.plan import Plan
from tests.importers.reading import refused

lines = st.lists(
    st.one_of(
        st.sampled_from(
            ["- [ ] a", "- [x] b", "  - [ ] c", "1. d", "   1. [ ] e", "# H", "## T1", "```", "> q", "\t- [ ] t"]
        ),
        st.sampled_from(
            ["- [ ] T1: x (after T2)", "- [ ] T2 y (depends on T1)", "- ", "- [ ]", "---", "<!--", "-->", "* * *"]
        ),
        st.text(max_size=12),
    ),
    max_size=25,
).map("\n".join)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                ["tasks", "userStories", "id", "title", "dependencies", "subtasks", "master", "status", "passes"]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=25,
)


def read_or_refused(data: bytes, name: str) -> None:
    try:
        found = read_plan(data, name)
    except AotError as error:
        refusal = (error.message.startswith(name), error.exit_code)
    else:
        refusal = (True, 3)
        labels = {piece.label for piece in found.pieces}
        assert labels
        assert all(need in labels and need != piece.label for piece in found.pieces for need in piece.needs)
        assert all(piece.text.strip() for piece in found.pieces)
    assert refusal == (True, 3)


@given(lines)
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refused(text.encode("utf-8", "surrogatepass"), "a.md")


@given(values)
def test_any_json_is_read_or_refused(value: object) -> None:
    read_or_refused(json.dumps(value).encode(), "a.json")


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    read_or_refused(data, "a.md")
    read_or_refused(data, "a.json")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"tasks": [', "it is not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"tasks": [{"id": ' + b"1" * 10_000 + b"}]}", "plan.json: "),
        (b"- [ ] a\n\xff\n", "line 2: not valid UTF-8"),
        (b"", "there is nothing in it"),
    ],
    ids=["cut", "deep", "long number", "latin", "empty"],
)
def test_hostile_files_are_refused(data: bytes, told: str) -> None:
    with pytest.raises(AotError, match=r"plan\.json") as caught:
        read_plan(data, "plan.json")
    assert told in caught.value.message


def test_the_content_tells_the_format_not_the_name() -> None:
    found = read_plan(b'\xef\xbb\xbf\n {"userStories": [{"title": "a"}]}', "-")
    assert isinstance(found, Plan)
    assert "it is not valid JSON" in refused("- [ ] a\n", "plan.json").message
