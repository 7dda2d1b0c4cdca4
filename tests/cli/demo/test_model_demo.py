"""`aot demo --model`: the same commands with a model of any server, and an honest end."""

from __future__ import annotations

from pathlib import Path

from tests.cli.terminal import aot
from tests.modelserver import ModelServer, Say, Script

WORKS = {
    "double": "def double(x):\n    return 2 * x",
    "reverse": "def reverse(s):\n    return s[::-1]",
    "biggest": "def biggest(xs):\n    return max(xs)",
    "average": "def average(xs):\n    return sum(xs) / len(xs)",
    "returns x times x": "def square(x):\n    return x * x",
}


def block(code: str) -> Say:
    return Say(f"```python\n{code}\n```")


def test_a_model_that_can_do_it_ends_with_proof(tmp_path: Path) -> None:
    scripts = [Script(rf"{name}", [block(code)] * 9) for name, code in WORKS.items()]
    without_its_rule = Script("", [block("def square(x):\n    return x * x")] * 9)
    with ModelServer([*scripts, without_its_rule]) as server:
        ran = aot("demo", "--model", f"{server.url}/v1", "--plain", "--folder", str(tmp_path / "demo"))
    assert ran.code == 0, ran.err
    assert "attempts: 5 passed their check" in ran.out
    state = tmp_path / "demo" / "pancakes" / ".claude" / "aot-loop-state.md"
    assert "square.py has ['*'] in it" in state.read_text()
    assert "every check was run by aot, not by the model" in ran.out


def test_an_address_that_is_none_is_refused() -> None:
    ran = aot("demo", "--model", "ftp://x")
    assert ran.code == 1
    assert "is not an address" in ran.err
