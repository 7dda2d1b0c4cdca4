"""Files in the words of a model, however it marks them."""

from __future__ import annotations

import pytest

from aotloop.agents.openai.fenced_files import files_in, paths_in


@pytest.mark.parametrize(
    "answer",
    [
        "```src/a.py\nx\n```",
        "```python src/a.py\nx\n```",
        '```python title="src/a.py"\nx\n```',
        "```python:src/a.py\nx\n```",
        "**src/a.py**\n```python\nx\n```",
        "### `src/a.py`\n\n```\nx\n```",
        "```python\n# file: src/a.py\nx\n```",
        "~~~~src/a.py\nx\n~~~~",
    ],
)
def test_a_path_is_found_wherever_it_stands(answer: str) -> None:
    assert files_in(answer) == {"src/a.py": "x\n"}


def test_a_block_that_does_not_end_is_no_file() -> None:
    assert files_in("```a.py\nx\n```\n```b.py\ny") == {"a.py": "x\n"}


def test_a_block_without_a_path_is_the_expected_file_if_only_one_is() -> None:
    assert files_in("```python\nx\n```", ("a.py",)) == {"a.py": "x\n"}
    assert files_in("x = 1\n```", ("a.py",)) == {"a.py": "x = 1\n"}
    assert files_in("```python\nx\n```", ("a.py", "b.py")) == {}


def test_paths_in_prose() -> None:
    assert paths_in("Change src/a.py and b.md, see (c/d.txt).") == ["src/a.py", "b.md", "c/d.txt"]
