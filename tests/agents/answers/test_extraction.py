"""The answer is found among anything an agent prints, with work that grows with the length and no faster."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.answers.extraction import MOST_BYTES, NotAResult, answer_in_file, find_answer
from tests.steps import lines_run

ANSWER = '{"success": true, "bindings_delta": {"summary": "a } \\" { b", "artifacts": ["x"]}}'
OTHER = '{"level": "info", "data": {"success": true}, "list": [1, -2.5e3, null, {}]}'


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        f"\n\n{ANSWER}\n\n",
        f"Here it is:\n```json\n{ANSWER}\n```\nHave a nice day.",
        f"{OTHER}\n{ANSWER}",
        f"{ANSWER}\n{OTHER}",
        f"{ANSWER} and then {{}} and {{curly}} and {{'x': 1}} and [1, 2",
        f'{{"success": false}}\n{ANSWER}',
        f'if (x) {{ "quoted" }}\n{ANSWER}',
        f'{{"half": "of a line\n{ANSWER}',
        f'{{"half": tru\n{ANSWER}',
        f"\x1b[32m{ANSWER}\x1b[0m",
        f"{{{{{{{ANSWER}}}}}}}",
        f"[{ANSWER}]",
    ],
)
def test_it_is_found_whatever_stands_around_it(text: str) -> None:
    assert find_answer("worker", text) == ANSWER


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", 'no JSON object with "success"'),
        ("I did it!", 'no JSON object with "success"'),
        (OTHER, "no JSON object"),
        ("[true]", "no JSON object"),
        ("{'success': true}", "no JSON object"),
        ('{"result": {"success": true}}', "no JSON object"),
        ('{"feasible": true, "findings": ""}', "no JSON object"),
        (ANSWER[:-1], "breaks off"),
        (f'{ANSWER}\n{{"success": false, "reason": "tests fa', "breaks off"),
        ('{"success": true,}', "breaks off"),
        ('{"success": true "reason": 1}', "breaks off"),
        ('{"success": true, "reason": "a\nb"}', "breaks off"),
        ('{"success": ' + '{"a":' * 60 + "1" + "}" * 61, "breaks off"),
    ],
)
def test_what_is_no_answer_says_why(text: str, why: str) -> None:
    with pytest.raises(NotAResult, match=why):
        find_answer("worker", text)


def test_each_role_has_its_key() -> None:
    text = '{"passed": true} {"feasible": true} {"success": true} {"feasible": false}'
    assert find_answer("verifier", text) == '{"passed": true}'
    assert find_answer("probe", text) == '{"feasible": false}'
    assert find_answer("worker", text) == '{"success": true}'


def test_an_answer_within_another_object_does_not_count() -> None:
    with pytest.raises(NotAResult):
        find_answer("worker", f'{{"example": {ANSWER}, "and": [{ANSWER}]}}')


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), JSON), st.sampled_from([None, 2]), st.booleans(), st.text("{}[]\"':,\\ \nx"))
def test_every_json_object_with_the_key_is_an_answer(
    values: dict[str, object], indent: int | None, ascii_only: bool, before: str
) -> None:
    text = json.dumps({**values, "success": True}, indent=indent, ensure_ascii=ascii_only)
    assert json.loads(find_answer("worker", text)) == json.loads(text)
    assert find_answer("worker", f'{before}\n}}]"\n}}]"x\n{text}\n').endswith("}")


@given(st.text('{}[]"\\:, \n1tx') | st.text())
def test_nothing_but_its_own_error_is_raised(text: str) -> None:
    try:
        answer = find_answer("worker", text)
    except NotAResult:
        return
    assert answer in text
    assert "success" in json.loads(answer)


HARD: dict[str, Callable[[int], str]] = {
    "opened and never closed": lambda n: '{"a":' * n,
    "braces": lambda n: "{" * n,
    "braces and quotes": lambda n: '{"' * n,
    "strings without end": lambda n: '{"a" "b' * n,
    "escaped quotes": lambda n: '{"\\"' * n,
    "backslashes": lambda n: '{"' + "\\" * n,
    "white space": lambda n: "{" + " " * n,
    "white space after each": lambda n: "{    " * n,
    "arrays": lambda n: '{"a":' + "[" * n,
    "answers": lambda n: '{"success":true}' * n,
    "broken answers": lambda n: '{"success":true,' * n,
    "digits": lambda n: '{"a":' + "1" * n,
    "one long string": lambda n: '{"a":"' + "x" * n,
}


@pytest.mark.parametrize("hard", HARD.values(), ids=HARD)
def test_the_work_grows_with_the_length_and_no_faster(hard: Callable[[int], str]) -> None:
    def needed(size: int) -> int:
        text = hard(size)

        def look() -> None:
            with contextlib.suppress(NotAResult):
                find_answer("worker", text)

        return lines_run(look)

    assert needed(4_000) <= 8 * needed(500), "eight times the text needs more than eight times the work"


def test_a_file_that_is_not_there_is_no_answer_and_no_error(tmp_path: Path) -> None:
    assert answer_in_file(tmp_path / "result.json") is None


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes(b"\xef\xbb\xbf" + ANSWER.encode())
    assert answer_in_file(tmp_path / "result.json") == ANSWER


def test_a_file_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "result.json").open("wb") as file:
        file.truncate(100_000_000_000)
    with pytest.raises(NotAResult, match=f"longer than {MOST_BYTES} bytes"):
        answer_in_file(tmp_path / "result.json")
