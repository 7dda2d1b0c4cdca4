"""`aot status` also says how many attempts can still be made, in a large loop, too."""

from __future__ import annotations

from pathlib import Path

from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop


def test_it_says_how_many_attempts_there_can_be_at_most(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", attempts=1), atom("A2", "A1")))
    facts = aot("status", "--json").json
    most = facts["attempts_left_at_most"]
    assert 3 < most < 20
    assert 90 < facts["growth_magnitude"] < 300
    assert f"\nno more than {most} attempts (about 10^" in aot("status").out


def test_in_a_completed_loop_there_are_none(project: Path) -> None:
    write_loop(project, a_loop(atom("A1", status="resolved"), status="completed"))
    assert "no more than" not in aot("status").out
    facts = aot("status", "--json").json
    assert (facts["attempts_left_at_most"], facts["growth_magnitude"]) == (0, None)


def test_of_ten_thousand_atoms_it_can_be_told_too(project: Path) -> None:
    atoms = (atom(f"A{number}", *([f"A{number - 3}"] if number > 3 else [])) for number in range(1, 10_001))
    write_loop(project, a_loop(*atoms))
    ran = aot("status")
    assert ran.code == 0
    assert "no more than" in ran.out
