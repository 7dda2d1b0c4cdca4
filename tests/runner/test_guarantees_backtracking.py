"""Going back: which choice gives way, what is reset, and what is on the branch afterwards (DESIGN §5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aotloop.core.model import AtomCheck, Constraints, Loop
from tests.loops import atom
from tests.patience import shell_until
from tests.runner.agents import Order, done, fails, finds, scripted, times_asked
from tests.runner.leftovers import leftovers, trailers
from tests.runner.projects import Project, a_project

ONCE = Constraints(max_attempts=1)


def holds(command: str) -> AtomCheck:
    return AtomCheck(type="command", value=command)


def grep(project: Project, word: str) -> str:
    """Where a word stands in the last commit."""
    names = project.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    return ", ".join(name for name in names if word in project.git("show", f"HEAD:{name}") and ".claude" not in name)


def test_no_line_of_the_left_choice_or_of_what_was_built_on_it_stays_and_history_shows_why(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo pppp >> shared.txt; mkdir -p p; echo pppp > p/own; git rm -q old.txt"),
        atom("Q", or_group="G", run="echo qqqq >> shared.txt"),
        atom("U", run="echo uuuu > unrelated.txt; sed -i '1s/.*/uuuu/' shared.txt"),
        atom("B", "P", "U", run="echo bbbb-built-on-$(tail -n1 shared.txt) > built; sed -i 's/4/bbbb/' shared.txt"),
        atom("C", "B", run="echo cccc", check=holds("grep -q qqqq shared.txt")),
        files={"shared.txt": "1\n2\n3\n4\n5\n6\n7\n", "old.txt": "old\n"},
        base_case="grep -q built-on-qqqq built",
        constraints=ONCE,
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert grep(project, "pppp") == ""
    assert (project.root / "shared.txt").read_text() == "uuuu\n2\n3\nbbbb\n5\n6\n7\nqqqq\n"
    assert project.files() == {"README.md", "shared.txt", "old.txt", "unrelated.txt", "built"}
    assert project.git("show", "HEAD:unrelated.txt") == "uuuu"
    assert project.is_clean()
    subjects = project.subjects()
    backs = [subjects.index("Take back B"), subjects.index("Take back P")]
    assert backs[0] < backs[1] < subjects.index("Q: do Q")  # newest first, and before the new choice
    for subject, atom_id in (("Take back B", "B"), ("Take back P", "P")):
        sha = project.git("log", "--format=%H", f"--grep=^{subject}$")
        assert trailers(project, "Aot-Atom", sha) == atom_id
        taken_back = trailers(project, "Aot-Reverts", sha)
        assert project.git("log", "-1", "--format=%s", taken_back) == f"{atom_id}: do {atom_id}"
        body = project.git("log", "-1", "--format=%b", sha)
        assert "G goes on with Q" in body
        assert "C failed: it failed, and nothing has changed since" in body
    assert leftovers(project) == []


def test_reset_are_exactly_the_left_choice_and_what_depends_on_it(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo p > p"),
        atom("Q", or_group="G", run="echo q > q"),
        atom("U", run=f"echo x >> {tmp_path}/u; echo u > u"),
        atom("V", "U", run=f"echo x >> {tmp_path}/v; echo v > v"),
        atom("D", "P", "U", run=f"echo x >> {tmp_path}/d; echo d > d"),
        atom("E", "D", "V", run="test -f q"),
        base_case="test -f q -a -f d",
        constraints=ONCE,
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    asked = {name: (tmp_path / name).read_text().count("x") for name in "uvd"}
    assert asked == {"u": 1, "v": 1, "d": 2}
    assert set(project.loop.bindings) == {"Q", "U", "V", "D", "E"}
    trail = [(entry.type, entry.atom, entry.selected) for entry in project.loop.trail]
    assert trail == [("failure", "E", None), ("selection", None, "Q")]
    assert project.atom("E").attempts == 0


def test_the_latest_group_that_the_failure_rests_on_gives_way_and_no_other(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("first", or_group="G", run="echo 1 > g"),
        atom("other first", or_group="G", run="echo 2 > g"),
        atom("second", "first", or_group="H", run="echo 1 > h"),
        atom("other second", "first", or_group="H", run="echo 2 > h"),
        atom("unrelated", or_group="U", run="echo 1 > u"),
        atom("other unrelated", or_group="U", run="echo 2 > u"),
        atom("D", "second", run="true", check=holds("grep -q 2 h")),
        base_case="grep -q 2 h",
        constraints=ONCE,
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one["or_group"] for one in ran.kinds("backtracked")] == ["H"]
    assert (project.root / "g").read_text() == (project.root / "u").read_text() == "1\n"
    assert project.loop.or_groups["H"].failed == ()  # only blamed: with the other first it might have worked
    assert project.loop.or_groups["H"].blamed == {"second": ("G",)}


@pytest.mark.parametrize("wanted", [("1", "2"), ("2", "2")], ids=" ".join)
def test_no_combination_of_choices_is_lost(tmp_path: Path, wanted: tuple[str, str]) -> None:
    g, h = wanted
    project = a_project(
        tmp_path,
        atom("G1", or_group="G", run="echo 1 > g"),
        atom("G2", or_group="G", run="echo 2 > g"),
        atom("H1", "G1", or_group="H", run="echo 1 > h"),
        atom("H2", "G1", or_group="H", run="echo 2 > h"),
        atom("D", "H1", run="cat g h > d", check=holds(f"grep -q {g} g && grep -q {h} h")),
        base_case=f"grep -q {g} g && grep -q {h} h && test -f d",
        constraints=Constraints(max_attempts=1, max_stall_count=99, max_iterations=99),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (project.root / "d").read_text() == f"{g}\n{h}\n"
    assert project.files() == {"README.md", "g", "h", "d"}
    assert leftovers(project) == []


def test_a_group_of_commands_that_all_failed_is_exhausted_and_what_is_selected_is_not_among_them(
    tmp_path: Path,
) -> None:
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo p > p; exit 1"),
        atom("Q", or_group="G", run="echo q > q; exit 1"),
        base_case="false",
        constraints=ONCE,
    )
    ran = project.run()
    assert ran.code == 4
    group = project.loop.or_groups["G"]
    assert group.selected not in group.failed  # each had its turn, so another round has begun
    assert [one["selected"] for one in ran.kinds("backtracked")] == ["Q", "P"]
    assert [one["atom"] for one in ran.kinds("attempt_began")] == ["P", "Q"]  # neither is run again: nothing changed
    assert (project.loop.control.stop_reason or "").startswith("exhausted:")
    assert project.files() == {"README.md"}
    assert leftovers(project) == []


def test_a_revert_that_conflicts_waits_for_a_person_and_leaves_everything_as_it_was(tmp_path: Path) -> None:
    landed = shell_until(f"grep -q pppp {tmp_path}/project/shared.txt")
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo pppp > shared.txt"),
        atom("Q", or_group="G", run="echo qqqq > q.txt"),
        atom("after P", run=landed),  # in time, not in the graph
        atom("U", "after P", run="echo uuuu > shared.txt"),
        atom("D", "P", "U", run="test -f q.txt"),
        files={"shared.txt": "0\n"},
        base_case="false",
        constraints=ONCE,
    )
    ran = project.run()
    assert ran.code == 6, ran.out
    reason = "blocked: what was given up cannot be taken back: shared.txt changed since, by U"
    assert project.loop.control.stop_reason == reason
    assert (project.root / "shared.txt").read_text() == "uuuu\n"
    assert project.is_clean()
    assert "q.txt" not in project.files()  # the new choice never started
    assert leftovers(project) == []


def with_answer(order: Order, more: dict[str, Any]) -> Order:
    return {**order, "answer": {**order["answer"], **more}}


def test_what_is_marked_is_probed_first_and_its_no_counts_as_a_turn(tmp_path: Path) -> None:
    alike = {"usage": {"cost_usd": 1.0}}  # a probe as dear as an attempt is not bought unless it is marked
    orders = {
        "P": [with_answer(fails("the library has no such function"), alike)],
        "impossible?": [with_answer(finds("there is no such library", feasible=False), alike)],
        "next": [done({"next": "n"})],
    }
    project = a_project(
        tmp_path,
        atom("P", or_group="G"),
        atom("impossible", or_group="G", probe=True),
        atom("next", or_group="G"),
        base_case="test -f next",
        config=scripted(tmp_path, orders),
        constraints=ONCE,
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    tried = [(one["atom"], one["role"]) for one in ran.kinds("attempt_began")]
    assert tried == [("P", "worker"), ("impossible", "probe"), ("next", "worker")]
    assert [one["selected"] for one in ran.kinds("backtracked")] == ["impossible", "next"]
    assert times_asked(tmp_path, "impossible") == 0
    group = project.loop.or_groups["G"]
    assert (group.selected, set(group.failed)) == ("next", {"P", "impossible"})
    prompt = (project.root / ran.kinds("attempt_began")[-1]["folder"] / "prompt.md").read_text()
    assert "the library has no such function" in prompt  # why the other ways were left
    assert "there is no such library" in prompt


def test_nothing_is_left_for_good_by_failing(tmp_path: Path) -> None:
    """Each choice has its turn before any has two, and the first comes back."""
    orders = {"P": [fails("bad luck"), done({"p": "p"})], "Q": [fails("no")], "R": [fails("no")]}
    project = a_project(
        tmp_path,
        *(atom(name, or_group="G") for name in ("P", "Q", "R")),
        base_case="test -f p",
        config=scripted(tmp_path, orders),
        constraints=ONCE,
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one["atom"] for one in ran.kinds("attempt_began")] == ["P", "Q", "R", "P"]
    group = project.loop.or_groups["G"]
    assert (group.selected, group.round) == ("P", 1)


def test_repairs_of_what_is_left_are_dropped_and_taken_back(tmp_path: Path) -> None:
    orders = {"*": [done(append={"mended.txt": "m\n"})]}
    project = a_project(
        tmp_path,
        atom("P", or_group="G", run="echo p > p.txt"),
        atom("Q", or_group="G", run="echo q > q.txt"),
        base_case="test -f q.txt",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_attempts=1, max_total_attempts=99),
    )
    project.edit(_after_many_successes)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert times_asked(tmp_path, "A1") == 1
    assert len(ran.kinds("added")) > 1  # one repair after the other, for as long as patience lasts
    assert set(project.statuses()) == {"P", "Q"}
    assert project.files() == {"README.md", "aot.toml", "q.txt"}
    assert project.subjects()[-3:] == ["Take back A1", "Take back P", "Q: do Q"]


def _after_many_successes(loop: Loop) -> None:
    """Where all succeed at once, patience is shortest."""
    loop.control = replace(loop.control, won=99, needed=99)
