"""One attempt: a worktree at the integration HEAD, one process group, one time-out; what counts as success (§7)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, Constraints
from tests.loops import atom
from tests.runner.agents import done, fails, finds, scripted, times_asked
from tests.runner.leftovers import kept, leftovers, trailers
from tests.runner.projects import a_project, asleep

ONE_SLOT = Constraints(max_parallel_agents=1)


def test_an_attempt_begins_at_the_integration_head_in_a_worktree_outside_of_the_checkout(tmp_path: Path) -> None:
    facts = f"pwd >> {tmp_path}/where; git rev-parse HEAD >> {tmp_path}/heads; git status --porcelain"
    project = a_project(
        tmp_path,
        atom("A1", run=f"{facts}; echo a > a"),
        atom("A2", "A1", run=f"{facts}; test -f a && echo b > b"),
        base_case="test -f b",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    heads = (tmp_path / "heads").read_text().split()
    assert heads == [project.git("rev-parse", "HEAD~2"), project.git("rev-parse", "HEAD~1")]
    where = [Path(line) for line in (tmp_path / "where").read_text().split()]
    assert where[0] == where[1]  # pooled: one for each slot
    assert not where[0].is_relative_to(project.root)
    assert not where[0].exists()
    assert project.loop.bindings["A1"].summary.startswith("the command succeeded")  # and nothing was dirty
    assert leftovers(project) == []


def test_each_commit_on_the_branch_names_its_atom_attempt_and_run(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a"), base_case="test -f a")
    ran = project.run()
    assert ran.code == 0, ran.out
    run_id = project.loop.control.run_id
    assert [trailers(project, f"Aot-{key}") for key in ("Atom", "Attempt", "Run")] == ["A1", "1", run_id]
    assert project.git("log", "-1", "--format=%an <%ae>") == "A Person <person@example.org>"
    assert project.loop.control.last_sha == ran.kinds("merged")[0]["commit"] == project.git("rev-parse", "HEAD")


def test_success_is_a_claim_and_a_check_that_passes_where_the_work_was_done(tmp_path: Path) -> None:
    orders = {"A1": [done({"a": "wrong"}, summary="all good"), done({"a": "right"})]}
    check = AtomCheck(type="command", value="grep -q right a")
    project = a_project(
        tmp_path, atom("A1", check=check), base_case="grep -q right a", config=scripted(tmp_path, orders)
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "it says that it is done, but check of A1: exit 1" in project.loop.trail[0].reason
    assert project.git("log", "--format=%s", "--", "a") == "A1: do A1"
    assert project.git("show", "refs/aot/attempts/A1-1:a") == "wrong"


LEFT = {
    "a pipe in the place of a file that git knows": "rm kept; mkfifo kept",
    "a file that its own attributes make unreadable": (
        "echo 'kept working-tree-encoding=UTF-16' > .gitattributes; echo y > kept"
    ),
}


@pytest.mark.parametrize("command", LEFT.values(), ids=LEFT.keys())
def test_an_attempt_that_leaves_what_cannot_be_committed_has_failed_and_is_paid_for(
    tmp_path: Path, command: str
) -> None:
    order = done({"a": "a"}, run=command)
    order["answer"]["usage"] = {"cost_usd": 2.5}
    limits = Constraints(max_parallel_agents=1, max_total_attempts=2)
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="test -f never",
        constraints=limits,
        files={"kept": "x\n"},
        config=scripted(tmp_path, {"A1": [order]}),
    )
    ran = project.run()
    assert project.loop.control.tried == 2, ran.out
    assert project.loop.control.cost_usd == pytest.approx(5.0)
    assert {one["outcome"] for one in ran.kinds("attempt_ended")} == {"failed"}


@pytest.mark.parametrize("path", [".claude/settings.json", "web/.vscode/tasks.json", ".mcp.json", ".envrc", "aot.toml"])
def test_work_that_changes_settings_of_the_persons_programs_lands_with_a_warning(tmp_path: Path, path: str) -> None:
    orders = {"A1": [done({path: "x\n", "a": "a"})]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    ran = project.run()
    told = [one["text"] for one in ran.kinds("warning")]
    assert any(text.startswith("it changes settings") and path in text for text in told), ran.out


SCRATCH = {
    "a pipe in the place of its temporary folder": "rm -rf $1/tmp; mkfifo $1/tmp",
    "a pipe in its temporary folder": "mkfifo $1/pipe",
    "folders that are nested very deep": ("cd $1; for i in $(seq 1200); do mkdir d && cd d || exit; done"),
}


@pytest.mark.parametrize("command", SCRATCH.values(), ids=SCRATCH.keys())
def test_what_an_agent_leaves_in_its_own_folder_ends_nothing(tmp_path: Path, command: str) -> None:
    answer = '{"success": true, "bindings_delta": {"summary": "done", "artifacts": []}}'
    hostile = tmp_path / "agent"
    hostile.write_text(f"set -- $(dirname $1)\n({command})\necho a > a\necho '{answer}'\n")
    argv = json.dumps(["/bin/sh", str(hostile), "{result_file}"])
    config = f'agent = "mine"\n[agents.mine]\nargv = {argv}\n'
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config)
    ran = project.run()
    assert ran.code == 0, ran.out
    assert leftovers(project) == []


PROTECTED = {
    "a protected file": "echo x > tests/test_it.py",
    "a new file in a protected folder": "echo x > tests/new.py",
    "a protected file that is removed": "rm tests/test_it.py",
    "a protected file that is renamed": "git mv tests/test_it.py elsewhere.py",
    "a protected file that can be executed": "chmod +x tests/test_it.py",
    "a protected file that becomes a link": "ln -sf ../README.md tests/test_it.py",
    "a protected file in other letters": "mkdir -p TESTS; echo x > TESTS/test_it.py",
    "a protected file, committed by itself": "echo x > tests/test_it.py; git commit -qam sneaky",
    "the state file": "echo x >> .claude/aot-loop-state.md",
    "the state file, removed": "rm -r .claude",
    "the journal": "mkdir -p .aot; echo x > .aot/events.jsonl; git add -f .aot",
}


def test_what_is_protected_is_refused_with_all_the_rest_of_the_attempt(tmp_path: Path) -> None:
    orders = {what: [done({"half": "x"}, run=command)] for what, command in PROTECTED.items()}
    orders["again"] = [done({"half": "x"}, run="rm -r tests"), done({"a": "a"})]
    project = a_project(
        tmp_path,
        *(atom(what) for what in orders),
        files={"tests/test_it.py": "assert True\n"},
        base_case="false",
        protect=("tests/**",),
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_total_attempts=2 * len(orders), max_stall_count=99, max_iterations=99),
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    refused = {entry.atom for entry in project.loop.trail if "it changed what no attempt may change" in entry.reason}
    assert refused == set(orders)
    assert project.statuses() == {what: "resolved" if what == "again" else "pending" for what in orders}
    last = next(one for one in reversed(ran.kinds("attempt_began")) if one["atom"] == "again")
    assert "it changed what no attempt may change" in (project.root / last["folder"] / "prompt.md").read_text()
    assert project.files() == {"README.md", "aot.toml", "tests/test_it.py", "a"}
    assert project.git("show", "HEAD:tests/test_it.py") == "assert True"
    assert project.is_clean()
    assert leftovers(project) == []


def test_what_git_does_not_take_is_a_failed_attempt_and_blocks_nobody(tmp_path: Path) -> None:
    orders = {
        "A1": [done(run="mkdir -p x/.GIT; echo x > x/.GIT/config"), done({"a": "a"})],
        "A2?": [finds("fine", run="mkdir -p x/.GIT; echo x > x/.GIT/config"), finds("fine")],
        "A2": [done()],
    }
    project = a_project(
        tmp_path, atom("A1"), atom("A2", probe=True), base_case="test -f a", config=scripted(tmp_path, orders)
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    reasons = {entry.atom: entry.reason for entry in project.loop.trail}
    assert reasons["A1"] == "what it left cannot be committed: invalid path 'x/.GIT/config'"
    assert "the probe changed files" in reasons["A2"]
    assert project.files() == {"README.md", "aot.toml", "a"}
    assert leftovers(project) == []


def test_branches_and_worktrees_that_an_agent_made_are_gone_with_it(tmp_path: Path) -> None:
    makes = "git worktree add -q -b helper .claude/worktrees/helper; git checkout -q -b feature; git commit -qam own"
    orders = {"A1": [done({"a": "a"}, run=makes)], "A2": [fails("no", run=makes)]}
    project = a_project(
        tmp_path,
        atom("A1"),
        atom("A2", "A1"),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_total_attempts=2),
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    assert project.files() == {"README.md", "aot.toml", "a"}
    assert leftovers(project) == []


def test_an_agent_cannot_talk_the_loop_into_anything_through_its_state_file(tmp_path: Path) -> None:
    lie = "sed -i 's/status: pending/status: resolved/; s/status: running/status: completed/' \"$AOT_STATE_FILE\""
    orders = {"A1": [fails("no", run=lie), fails("again")]}
    project = a_project(
        tmp_path,
        atom("A1"),
        atom("A2", "A1", run="true"),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_total_attempts=2),
    )
    ran = project.run()
    assert ran.code == 5, ran.out
    assert project.statuses() == {"A1": "pending", "A2": "pending"}
    assert any("restored what an edit of the file had undone" in one["text"] for one in ran.kinds("warning"))


def test_an_agent_that_moves_the_goal_posts_stops_the_loop(tmp_path: Path) -> None:
    orders = {"A1": [fails("no", run='sed -i \'s/value: .*/value: "true"/\' "$AOT_STATE_FILE"', hang=True)]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 6, ran.out
    assert "the objective was changed behind the loop's back" in (project.loop.control.stop_reason or "")
    assert project.loop.control.status == "stopped"
    assert leftovers(project) == []


def test_nothing_that_an_attempt_started_outlives_it(tmp_path: Path) -> None:
    daemon = "setsid nohup sleep 9871 >/dev/null 2>&1 & (sleep 9872 &) ; sleep 9873 &"
    orders = {"A1": [done({"a": "a"}, run=daemon)], "A2": [fails("no", run=daemon)]}
    project = a_project(
        tmp_path,
        atom("A1"),
        atom("A2"),
        base_case="false",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_total_attempts=2),
    )
    ran = project.run()
    assert ran.code == 5
    for number in (9871, 9872, 9873):
        assert asleep(number) == []
    assert leftovers(project) == []


def test_time_is_up_for_the_whole_tree(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom("A1", run="sleep 9881 & setsid sleep 9882 & sleep 9883", timeout="0.5s"),
        base_case="false",
        constraints=Constraints(max_attempts=1),
    )
    ran = project.run()
    assert ran.kinds("attempt_ended")[0]["outcome"] == "timed_out"
    assert [pid for number in (9881, 9882, 9883) for pid in asleep(number)] == []


NASTY = """
git checkout -q -b feature; echo x > committed; git add committed; git commit -qm mine; git tag mine
git config core.ignoreStat true; git update-index --assume-unchanged README.md; echo y > README.md
echo '*' > .gitignore; mkdir -p deep/er; echo z > deep/er/z; chmod 0 deep/er; mkdir empty
git rebase -q --exec false HEAD~1 || true; rm .git; git init -q .; git add -A; exit 1
"""


def test_nothing_of_a_failed_attempt_is_seen_by_the_next_one_in_the_same_slot(tmp_path: Path) -> None:
    look = "git status --porcelain --ignored; git ls-files -o; cat README.md; ls -d empty deep; git log -1 --format=%s"
    orders = {"A1": [fails("no", run=NASTY), done({"a": "a"}, run=f"({look}) > {tmp_path}/seen 2>/dev/null")]}
    project = a_project(
        tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders), constraints=ONE_SLOT
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (tmp_path / "seen").read_text().split("\n") == ["?? a", "a", "a project", "the beginning", ""]
    assert project.files() == {"README.md", "aot.toml", "a"}
    assert project.is_clean()
    assert leftovers(project) == []


def test_what_failed_or_was_given_up_is_kept_under_refs_of_ours_and_nowhere_else(tmp_path: Path) -> None:
    orders = {
        "A1": [fails("no", write={"one": "1"}), fails("no", write={"two": "2"})],
        "A2": [{"say": "nonsense", "write": {"three": "3"}}, done({"four": "4"})],
    }
    config, few = scripted(tmp_path, orders), Constraints(max_total_attempts=4)
    project = a_project(tmp_path, atom("A1"), atom("A2"), base_case="false", config=config, constraints=few)
    ran = project.run()
    assert ran.code == 5
    numbers = {(one["atom"], one["attempt"]) for one in ran.kinds("attempt_began")}
    assert set(kept(project)) == {f"{atom_id}-{number}" for atom_id, number in numbers if atom_id in ("A1", "A2")}
    assert project.files() & {"one", "two", "three", "four"} == {"four"}
    assert leftovers(project) == []


def test_a_probe_that_changes_something_has_found_nothing(tmp_path: Path) -> None:
    orders = {
        "A1?": [finds("easy", write={"litter": "x"})],
        "A1": [done({"a": "a"})],
    }
    project = a_project(tmp_path, atom("A1", probe=True), base_case="test -f a", config=scripted(tmp_path, orders))
    ran = project.run()
    assert ran.code == 0, ran.out
    assert [one["role"] for one in ran.kinds("attempt_began")] == ["probe", "worker"]
    assert "the probe changed files" in project.loop.trail[0].reason
    assert project.atom("A1").findings is None
    assert project.files() == {"README.md", "aot.toml", "a"}


def test_a_worker_that_says_it_is_done_and_changed_nothing_makes_no_commit(tmp_path: Path) -> None:
    orders = {"A1": [done(summary="it was so already")]}
    project = a_project(
        tmp_path, atom("A1"), base_case=f"test -e {tmp_path}/scripted.json.asked", config=scripted(tmp_path, orders)
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert ran.kinds("merged")[0]["commit"] is None
    assert project.subjects() == []
    assert project.loop.bindings["A1"].summary == "it was so already"
    assert times_asked(tmp_path, "A1") == 1


def test_modes_and_links_and_removed_files_reach_the_branch_as_they_are(tmp_path: Path) -> None:
    project = a_project(
        tmp_path,
        atom(
            "A1", run="chmod +x tool; ln -s tool link; git rm -q old; mkdir -p d/e; : > d/e/f; printf '\\0\\377' > bin"
        ),
        files={"tool": "#!/bin/sh\n", "old": "old\n"},
        base_case="test -x tool -a -L link",
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert project.files() == {"README.md", "tool", "link", "d/e/f", "bin"}
    assert os.readlink(project.root / "link") == "tool"  # noqa: PTH115
    assert (project.root / "tool").stat().st_mode & stat.S_IXUSR
    assert (project.root / "bin").read_bytes() == b"\0\xff"
    assert project.is_clean()


def test_a_worktree_that_an_agent_removed_or_replaced_costs_it_its_attempt_and_nobody_else_anything(
    tmp_path: Path,
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine\n")
    away = 'd=$(pwd); cd /; rm -rf "$d"'
    orders = {"A1": [done(run=away)], "A2": [done(run=f'{away}; ln -s {precious} "$d"')], "A3": [done({"a": "a"})]}
    project = a_project(
        tmp_path,
        *(atom(name) for name in orders),
        base_case="test -f a",
        config=scripted(tmp_path, orders),
        constraints=Constraints(max_parallel_agents=1, max_attempts=1, max_stall_count=9),
    )
    ran = project.run()
    assert ran.code == 0, ran.out
    assert {entry.reason for entry in project.loop.trail} == {"what it left cannot be committed: its worktree is gone"}
    assert [path.name for path in precious.iterdir()] == ["file"]
    assert project.files() == {"README.md", "aot.toml", "a"}
    assert project.is_clean()
    assert leftovers(project) == []


def test_a_file_that_gits_settings_include_is_not_changed_by_an_attempt(tmp_path: Path) -> None:
    """Our git would obey it: a filter there runs outside of the fence."""
    orders = {"A1": [done({".gitconfig": "[filter]\n", "a": "a"}), done({"a": "a"})]}
    project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=scripted(tmp_path, orders))
    project.git("config", "include.path", "../.gitconfig")
    ran = project.run()
    assert ran.code == 0, ran.out
    assert "it changed what no attempt may change: .gitconfig" in project.loop.trail[0].reason
    assert ".gitconfig" not in project.files()
