"""Files in the words of a model, however it marks them."""

from __future__ import annotations

import pytest

from aotloop.agents.openai.fenced_files import fenced, files_in, paths_in, why_no_file


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
        "1. `src/a.py`:\n```python\nx\n```",
        "[src/a.py](src/a.py)\n```python\nx\n```",
        "Die Datei `src/a.py` lautet:\n\n```python\nx\n```",
        "文件\uff1a`src/a.py`\n```python\nx\n```\nRun `src/a.py`:\n```sh\npython src/a.py\n```",
        "```python title='src/a.py'\r\nx\r\n```\r\n",
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


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_block_may_have_blocks_inside(fence: str) -> None:
    manual = f"# T\n{fence}sh\nmake\n{fence}\nmore\n"
    assert files_in(f"{fence}README.md\n{manual}{fence}") == {"README.md": manual}
    assert files_in(fenced("README.md", f"{manual}````\n")) == {"README.md": f"{manual}````\n"}


def test_the_first_line_may_name_the_file_and_stays_if_it_may_be_its_own() -> None:
    assert files_in("```\n# src/a.py\nx\n```\n```js\n// b.js\ny\n```") == {
        "src/a.py": "# src/a.py\nx\n",
        "b.js": "// b.js\ny\n",
    }


def test_commands_output_and_diffs_are_no_file_that_is_expected() -> None:
    typed = "```python\nx\n```\nRun it:\n```bash\npython -c 'import a; print(a)' # and much more\n```"
    assert files_in(typed, ("a.py",)) == {"a.py": "x\n"}
    assert files_in("```sh\nset -e\n```", ("build.sh",)) == {"build.sh": "set -e\n"}
    for diff in ("```diff\n-x\n+y\n```", "```\n--- a/a.py\n+++ b/a.py\n```"):
        assert files_in(diff, ("a.py",)) == {}
        assert "diff" in why_no_file(diff)


def test_a_path_that_leads_out_is_told_and_that_of_another_machine_is_known() -> None:
    assert files_in("```python ../a.py\nx\n```", ("a.py",)) == {"../a.py": "x\n"}
    assert files_in("```/etc/passwd.d\nx\n```") == {"/etc/passwd.d": "x\n"}
    assert files_in("```/workspace/src/a.py\nx\n```", ("src/a.py",)) == {"src/a.py": "x\n"}


@pytest.mark.parametrize("line", ["*" * 300_000, "`" * 300_000, "# " + "a." * 150_000, "'" * 300_000, "1. " * 100_000])
def test_no_line_takes_long(line: str) -> None:
    for answer in (f"{line}x\n```python\n{line}!\n```", f"```python {line}\nx\n```", f"```\n{line}"):
        files_in(answer, ("a.py",))


def test_paths_in_prose() -> None:
    assert paths_in("Change src/a.py and b.md, see (c/d.txt).") == ["src/a.py", "b.md", "c/d.txt"]
