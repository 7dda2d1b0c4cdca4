"""The short prompt: the atom and little else, for models that little confuses."""

from __future__ import annotations

from aotloop.agents.prompts.attempt_prompt import prompt_in_style
from aotloop.agents.prompts.short_prompt import MOST_BYTES, write_short_prompt
from aotloop.core.model import AtomCheck, Binding
from tests.agents.prompts.test_attempt_prompt import a_context
from tests.loops import atom

LONG = "wört " * 2000


def test_beside_the_atom_it_is_short_whatever_there_is_to_say() -> None:
    one = atom("A3", description="Do it.", check=AtomCheck(type="command", value=LONG), failures=1)
    results = {f"A{number}": Binding(summary=LONG) for number in range(9)}
    prompt = write_short_prompt(a_context(one, results=results, failures=(LONG,)), LONG)
    assert prompt.startswith("Do it.\n")
    assert len(prompt.encode()) <= len(b"Do it.\n") + MOST_BYTES


def test_another_wording_leaves_less_room_for_the_rest() -> None:
    results = {f"A{number}": Binding(summary=LONG) for number in range(9)}
    for failures in range(9):
        one = atom("A3", description="Do it.", check=AtomCheck(type="command", value=LONG), failures=failures)
        prompt = write_short_prompt(a_context(one, results=results, failures=(LONG,)), LONG)
        assert "Do it." in prompt
        assert len(prompt.encode()) <= len(b"Do it.\n") + MOST_BYTES


def test_it_has_what_decides_and_three_lines_of_the_last_failure() -> None:
    one = atom("A3", description="Do it.", check=AtomCheck(type="command", value="make test"), failures=1)
    prompt = write_short_prompt(a_context(one, failures=("A3: old", "A3: 1\n2\n3\n4")))
    assert "make test" in prompt
    assert "A3: 1\n2\n3\n" in prompt
    assert not any(word in prompt for word in ("old", "4", "JSON", "schema"))


def test_only_a_worker_gets_it() -> None:
    context = a_context()
    assert prompt_in_style(context, "worker", style="short") == write_short_prompt(context)
    assert "JSON" in prompt_in_style(context, "probe", style="short")
    assert "JSON" in prompt_in_style(context, "worker")
