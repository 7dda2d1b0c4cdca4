"""Every way to change a source: what it makes of a line, and which lines it leaves alone."""

from __future__ import annotations

import ast

import pytest
from mutants.mutant import Mutant, mutants_of


def _made_of(text: str) -> list[Mutant]:
    return mutants_of("some.py", text.encode())


def _in_function(body: str, returns: str = "object") -> set[str]:
    """What the one line becomes that is the body of a function."""
    return {one.after for one in _made_of(f"def some(a, b, c) -> {returns}:\n    {body}\n")}


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("f(a)", {"pass"}),
        ("x = a", {"pass"}),
        ("x: int = a", {"pass"}),
        ("x += a", {"pass", "x -= a"}),
        ("x |= a", {"pass", "x &= a"}),
        ("del a[b]", {"pass"}),
        ("raise ValueError", {"pass"}),
        ("yield a", {"pass"}),
        ("return a", {"return None"}),
        ("return None", set()),
        ("return a > b", {"return None", "return a >= b", "return a <= b"}),
        ("return a <= b", {"return None", "return a < b", "return a > b"}),
        ("return a == b", {"return None", "return a != b"}),
        ("return a not in b", {"return None", "return a in b"}),
        ("return a is not b", {"return None", "return a is b"}),
        ("x = a < b < c", {"pass", "x = a <= b < c", "x = a >= b < c", "x = a < b <= c", "x = a < b >= c"}),
        ("return a and b", {f"return {one}" for one in ("None", "a or b", "a", "b")}),
        (
            "return (a or b) and f(c)",
            {f"return {one}" for one in ("None", "(a or b) or f(c)", "(a or b)", "f(c)", "(a and b) and f(c)")}
            | {"return (a) and f(c)", "return (b) and f(c)"},
        ),
        ("return not a", {"return None", "return a"}),
        ("a = not (b or c)", {"pass", "a = (b or c)", "a = not (b and c)", "a = not (b)", "a = not (c)"}),
        ("return a if b else c", {"return None", "return a if not (b) else c"}),
        ("return a + b", {"return None", "return a - b"}),
        ("return a * b", {"return None", "return a + b"}),
        ("return a | b", {"return None", "return a & b"}),
        ("return max(a)", {"return None", "return min(a)"}),
        ("return any(a)", {"return None", "return all(a)"}),
        ("return sorted(a, key=b)", {"return None", "return sorted(a, key=b)[::-1]"}),
        ("return 7", {"return None", "return 8", "return 6"}),
        ("return 0.5", {"return None", "return 1.5", "return -0.5"}),
        ("return True", {"return None", "return False"}),
        ('return ""', {"return None", 'return "mutant"'}),
        ('return "some"', {"return None", 'return ""'}),
        ("return f(())", {"return None", 'return f(("mutant",))'}),
        ("return f((a,))", {"return None", "return f(())"}),
        ("return [a for a in b if c]", {"return None", "return [a for a in b ]", "return [a for a in b if not (c)]"}),
    ],
)  # fmt: skip
def test_a_line_becomes(body: str, after: set[str]) -> None:
    assert _in_function(body) == after


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("return a", {"return not (a)"}),
        ("return a == b", {"return a != b"}),
        ("return False", {"return True"}),
        ("return not a", {"return a"}),
    ],
)
def test_what_answers_yes_or_no_answers_the_other(body: str, after: set[str]) -> None:
    assert _in_function(body, returns="bool") == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("if a:\n    import b", {"if not (a):"}),
        ("while a < b:\n    import c", {"while a <= b:", "while a >= b:"}),
        ("for a in b:\n    break", {"continue"}),
        ("for a in b:\n    continue", {"break"}),
        ("def f(a=1): ...", {"def f(a=2): ...", "def f(a=0): ..."}),
        ("def f(*, a=True): ...", {"def f(*, a=False): ..."}),
        ("class A:\n    a: int = 3", {"a: int = 4", "a: int = 2"}),
        ("class A(B, frozen=True, kw_only=True): ...", {"class A(B, frozen=False, kw_only=True): ..."}),
        ("class A(kw_only=True):\n    a: int", {"class A(kw_only=False):"}),
        ('MOST = {"a": 1}', {'MOST = {"": 1}', 'MOST = {"a": 2}', 'MOST = {"a": 0}'}),
    ],
)  # fmt: skip
def test_outside_of_functions_too(text: str, after: set[str]) -> None:
    assert {one.after for one in _made_of(text)} == after


@pytest.mark.parametrize(
    "text",
    [
        '"""What it is for: 1 > 2."""',
        "from __future__ import annotations",
        'Some = Literal["a", "b"]',
        "a: Literal['b', 1]",
        "def f(a: Literal['b']) -> tuple[Literal[1], ...]: ...",
        "class A(B['c']): ...",
        "@cache(1)\ndef f(): ...",
        "if TYPE_CHECKING:\n    from a import b",
    ],
)
def test_nothing_is_made_of(text: str) -> None:
    assert _made_of(text) == []


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ('raise ValueError("some", 1, a > b)', {"pass"}),
        ('return f"{a + 1}: {b or c}"', {"return None"}),
        ('return "some words"', {"return None"}),
        ('return error(a, "some", missing=True)', {"return None", 'return error(a, "some", missing=False)'}),
        ("return zip(a, b, strict=True)", {"return None"}),
    ],
)
def test_texts_for_people_stay(body: str, after: set[str]) -> None:
    assert _in_function(body) == after


def test_only_the_place_itself_is_different_and_what_is_made_is_python() -> None:
    text = '"""Größer → kleiner."""\n\n\ndef f(a):  # why\n    x = "ö" if a else "ü"\n    return (\n  x\n  and a\n  )\n'
    for one in _made_of(text):
        ast.parse(one.text)
        assert one.text.decode().startswith('"""Größer → kleiner."""\n\n\ndef f(a):  # why\n')
    assert {(one.line, one.before, one.after) for one in _made_of(text)} >= {
        (5, 'x = "ö" if a else "ü"', 'x = "ö" if a else ""'),
        (7, "x and a", "x or a"),
    }


def test_a_mutant_knows_the_function_whose_tests_can_notice_it() -> None:
    text = "X = 1\n\n\nclass A:\n    def f(self, a=2):\n        def g():\n            return a + 3\n"
    found = {(one.before, one.function) for one in _made_of(text)}
    assert found == {("X = 1", None), ("def f(self, a=2):", None), ("return a + 3", "A.f")}
