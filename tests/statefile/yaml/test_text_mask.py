# ruff: noqa: RUF001 - people write such letters
"""Ordinary text is read fast: descriptions, commands and tracebacks, as we write them and as people write them."""

from __future__ import annotations

import random

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aotloop.core.model import Atom, Binding, Loop
from aotloop.statefile.document import Document
from aotloop.statefile.reader import decode, split
from aotloop.statefile.yaml import fast_reader, nodes
from aotloop.statefile.yaml.emitter import text
from aotloop.statefile.yaml.text_mask import masked
from tests.loops import a_loop, as_file, atom

SAID = [
    "Write `greet(name) -> str`, and keep `greet(None) -> NULL`",
    "impl<T: Display> fmt::Debug for Wrapper<T> { use super::*; }",
    "don't; \"quoted\" and 'single', 100% sure? yes! *bold* & co. @me #tag ~home <b>x</b>",
    "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f(**{'k': [1]})\nKeyError: 'k'",
    "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but the index is 99",
    'Exception in thread "main" java.lang.NullPointerException: null\n\tat com.x.Y$1.run(Y.java:17)',
    "panic: runtime error: invalid memory address\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:8 +0x1d",
    "TypeError: Cannot read properties of undefined (reading '0')\n    at Object.<anonymous> (/a/b.js:1:15)",
    "src/a.c:12:5: error: expected ‘;’ before ‘}’ token\n   12 |     return 0\n      |     ^~~~~~",
    "for f in *.txt; do sed -e 's/: */=/' \"$f\" | awk '{print $1}' > \"out/${f%.txt}.csv\"; done",
    "git log --format='%h %s' HEAD~3.. -- ':!*.md' && test -z \"$(git status --porcelain)\" || exit 1",
    "docker run --rm -v \"$PWD\":/w -e K='{\"a\": [1, 2]}' img:1.2 sh -c 'make -C /w all'",
    "SELECT * FROM t WHERE a IS NOT NULL AND b <> '' -- nothing else",
    "[a](b.md): see #12 - item: yes, {x}: [y]; end",
    "- a list\n- of: things\n# and a comment\n--- \n...",
    "NULL -> `x`, Null or ~",
    "日本語の説明: 矢印 → と「引用」", "Größe prüfen – „ja“ – 5 €", "Проверить: файл не пуст", "emoji 🎉: done ✓",
    "yes", "null", "NULL", "Null", "~", "0x1f", "1e3", "012", "setup.inf", "-", ":", "?", "", " leading", "\t",
]  # fmt: skip
WORDS = st.sampled_from(SAID)
TEXTS = st.one_of(
    WORDS,
    st.lists(WORDS, min_size=2, max_size=4).map("\n".join),
    st.lists(st.one_of(WORDS, st.text(max_size=12)), max_size=5).map(" ".join),
)


def a_file(said: list[str]) -> Loop:
    atoms = [
        Atom(id=f"A{number}", description=one, status="pending", depends_on=(), run=one or "x", touches=(one,))
        for number, one in enumerate(said)
    ]
    loop = a_loop(*atoms)
    loop.bindings = {f"A{number}": Binding(summary=one, artifacts=(one, "b")) for number, one in enumerate(said)}
    return loop


def writable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


@given(st.lists(TEXTS.filter(writable), min_size=1, max_size=4))
def test_text_that_we_wrote_is_read_fast_and_as_it_was(said: list[str]) -> None:
    loop = a_file(said)
    assert fast_reader.read(split(as_file(loop)).yaml, Loop) == loop


def test_of_ten_thousand_texts_almost_all_are_read_fast() -> None:
    """Pieces of what programs and people say, cut anywhere and joined anyhow; 99.9 % at least."""
    chance, said, slow = random.Random(20), "\n".join(SAID), 0
    for _ in range(200):
        texts = []
        for _ in range(50):
            starts = [chance.randrange(len(said)) for _ in range(chance.randint(1, 3))]
            texts.append(" ".join(said[start : start + chance.randint(1, 90)] for start in starts))
        slow += sum(fast_reader.read(f"a: {text(one)}\n".encode(), dict) != {"a": one} for one in texts)
    assert slow <= 10


@pytest.mark.parametrize("said", [one for one in SAID if one.strip() and one.isprintable()])
@pytest.mark.parametrize("style", ["'%s'", "|\n      %s", ">-\n      %s"])
def test_text_that_a_person_wrote_in_another_style_is_read_fast(said: str, style: str) -> None:
    if said.startswith(" "):
        return
    written = style % (said.replace("'", "''") if style.startswith("'") else said)
    source = f"atoms:\n  - x: {written}\n    y: 1\n"
    assert fast_reader.read(source.encode(), dict) == yaml.safe_load(source)


@pytest.mark.parametrize(
    "source",
    [
        b'a: "x\n  b: "\nc: &x "y"\n',
        b'a: "never closed\nb: 1\n',
        b"a: |\n    deep\n  less\nb: 1\n",
        b"a: 'it's'\nb: 1\n",
        b'a: ["x", "y]\n',
    ],
)
def test_where_a_text_ends_is_never_guessed(source: bytes) -> None:
    assert masked(source) is None


@pytest.mark.parametrize(
    "token", [b"&x 1", b"*x", b"!t 1", b"NULL", b"Null\t", b"Null  # no", b"1\nNULL: 2", b"? 1", b"{a: b\n  c: d}"]
)
def test_syntax_beside_masked_text_is_still_seen(token: bytes) -> None:
    source = b'a: "uses `x` -> NULL"\nb: ' + token + b"\n"
    assert fast_reader.to_json(source) is None


def test_a_loop_full_of_ordinary_text_never_needs_the_careful_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    data = as_file(a_file(SAID))
    monkeypatch.setattr(nodes, "compose", _not_called)
    document = Document(data)
    for number, said in enumerate(SAID):
        loop = document.loop()
        loop.atoms[number] = atom(f"A{number}", status="resolved")
        loop.bindings[f"A{number}"] = Binding(summary=said[::-1])
        written = document.revise(loop)
        assert decode(written) == loop


def _not_called(*_: object) -> None:
    raise AssertionError("it takes no careful reader")
