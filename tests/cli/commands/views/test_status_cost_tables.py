"""`aot status` says what a loop has cost: for each atom, each agent and each role."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from aotloop.core.effects import Role
from aotloop.core.model import Used
from aotloop.execution.run_events import AttemptBegan, AttemptEnded, JudgeAsked
from tests.cli.live.running import AT, Project, a_beginning
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def spent(journal: Project, name: str, number: int, agent: str, usd: float | None, role: Role = "worker") -> None:
    folder = f".aot/attempts/{name}-{number}"
    used = Used(input=1000 * number, output=10)
    journal.tell(
        AttemptBegan(at=AT, atom=name, attempt=number, role=role, agent=agent, folder=folder),
        AttemptEnded(at=AT, atom=name, attempt=number, outcome="done", seconds=61.0, cost_usd=usd, used=used),
    )


def a_paid_loop(project: Path, *names: str, cost: float) -> Project:
    loop = a_loop(*(atom(name) for name in names))
    loop.control = replace(loop.control, run_id="r1", cost_usd=cost)
    journal = Project(write_loop(project, loop))
    journal.tell(a_beginning())
    return journal


def test_each_atom_agent_and_role_has_its_cost_the_dearest_first(project: Path) -> None:
    journal = a_paid_loop(project, "A1", "A2", cost=4.0)
    spent(journal, "A1", 1, "claude", 0.5)
    spent(journal, "A2", 2, "codex", 2.0)
    spent(journal, "A1", 3, "claude", 0.25, role="probe")
    journal.tell(JudgeAsked(at=AT, role="judge", cost_usd=0.25))
    ran = aot("status")
    rows = [line.split()[:3] for line in ran.out.partition("\nCost\n")[2].splitlines()]
    assert rows[:7] == [
        ["atom", "A2", "$2.00"],
        ["atom", "A1", "$0.75"],
        ["agent", "codex", "$2.00"],
        ["agent", "claude", "$0.75"],
        ["agent", "judges", "$0.25"],
        ["role", "worker", "$2.50"],
        ["role", "probe", "$0.25"],
    ]
    assert "2 attempts · 2m 02s" in ran.out
    assert "$1.00 more are in the state file, but not in the journal" in ran.out
    costs = aot("status", "--json").json["costs"]
    assert {name: one["usd"] for name, one in costs["by_role"].items()} == {"worker": 2.5, "probe": 0.25, "judge": 0.25}
    assert costs["by_atom"]["A1"]["used"]["input"] == 4000


def test_many_rows_are_counted_and_json_has_all_of_them(project: Path) -> None:
    names = [f"A{number}" for number in range(1, 9)]
    journal = a_paid_loop(project, *names, cost=8.0)
    for number, name in enumerate(names, start=1):
        spent(journal, name, number, "claude", 1.0)
    assert "atom   … 3 more; --json has all" in aot("status").out
    assert len(aot("status", "--json").json["costs"]["by_atom"]) == 8


def test_an_agent_that_tells_only_tokens_is_in_the_table_and_one_that_tells_nothing_makes_none(project: Path) -> None:
    journal = a_paid_loop(project, "A1", cost=0.0)
    assert "\nCost\n" not in aot("status").out
    spent(journal, "A1", 1, "local", None)
    assert "1.0k tokens" in aot("status").out.partition("\nCost\n")[2]
