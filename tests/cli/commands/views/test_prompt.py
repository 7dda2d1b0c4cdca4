"""`aot prompt` prints what would be sent, and nothing else."""

from __future__ import annotations

from pathlib import Path

from aotloop.agents.prompts.attempt_prompt import write_prompt
from aotloop.core.context import context_of
from aotloop.core.graph.work_graph import Graph
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop

LOOP = a_loop(
    atom("A1", status="resolved"), atom("A2", "A1", description="build it: ü"), atom("A3", run="make"),
    atom("A4", probe=True), status="pending",
)  # fmt: skip


def test_it_is_the_prompt_to_the_letter(project: Path) -> None:
    write_loop(project, LOOP)
    ran = aot("prompt", "A2")
    assert (ran.code, ran.out) == (0, write_prompt(context_of(Graph(LOOP), "A2"), "worker"))
    assert "> build it: ü" in ran.out
    assert "> did A1" in ran.out


def test_an_atom_that_is_to_be_probed_is_shown_as_a_probe_sees_it(project: Path) -> None:
    write_loop(project, LOOP)
    assert aot("prompt", "A4").out == write_prompt(context_of(Graph(LOOP), "A4"), "probe")
    assert aot("prompt", "A4", "--role", "worker").out == write_prompt(context_of(Graph(LOOP), "A4"), "worker")


def test_of_a_command_nobody_is_told(project: Path) -> None:
    write_loop(project, LOOP)
    ran = aot("prompt", "A3")
    assert (ran.code, ran.out) == (0, "")
    assert "a command does this atom" in ran.err
    assert aot("prompt", "A3", "--json").json == {"atom": "A3", "role": "worker", "run": "make", "prompt": None}


def test_json_has_its_size(project: Path) -> None:
    write_loop(project, LOOP)
    told = aot("prompt", "A2", "--json").json
    assert told["characters"] == len(told["prompt"])


def test_an_unknown_atom_is_an_error_with_advice(project: Path) -> None:
    write_loop(project, LOOP)
    ran = aot("prompt", "a2")
    assert ran.code == 1
    assert "Did you mean A2?" in ran.err


def test_its_size_is_the_same_at_the_fifth_and_at_the_five_hundredth_atom_of_a_chain(project: Path) -> None:
    names = [f"A{number:03}" for number in range(1, 502)]
    chain = [atom(one, *names[place - 1 : place], status="resolved") for place, one in enumerate(names)]
    chain = [chain[0], *chain[1:]]
    sizes = []
    for place in (5, 500):
        done = [*chain[:place], *(atom(one, names[number - 1]) for number, one in enumerate(names) if number >= place)]
        write_loop(project, a_loop(*done, status="pending"))
        sizes.append(len(aot("prompt", names[place]).out))
    assert sizes[0] == sizes[1]
