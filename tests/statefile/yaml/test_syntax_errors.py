"""A mistyped line is explained in plain words, with the place where the mistake began."""

from __future__ import annotations

import pytest

from aotloop.errors import StateFileInvalid
from aotloop.statefile.yaml.nodes import compose


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a:\n\tb: c\n", "line 2, column 1: not readable as YAML: a tab; YAML is indented with spaces"),
        ("a: @x\n", "line 1, column 4: not readable as YAML: a value cannot begin with @; put it in quotes"),
        ("a: [b\nc: d\n", "a comma or the ] that ends the [ of line 1 is missing before this"),
        ("a: {b: c\n", "a comma or the } that ends the { of line 1 is missing before this"),
        ('a: "b\nc: d\n', "the quote that begins in line 1 does not end"),
        ("a: b: c\n", "put a value that has `: ` in quotes, or correct the indentation"),
        ("a: 'it's'\n", "look for a wrong indentation, and for a quote or a bracket too many"),
        ("- a\nb: c\n", "an entry is expected here"),
        ("a: - b\n", "a list entry `- ` cannot be here"),
        ("a: *x\n", "a value that begins with * is an alias; put it in quotes"),
        ("a: |b\n", "did not find expected comment or line break"),
    ],
)
def test_a_mistyped_line_is_explained(text: str, said: str) -> None:
    with pytest.raises(StateFileInvalid) as error:
        compose(text.encode(), first_line=1)
    assert said in str(error.value)
