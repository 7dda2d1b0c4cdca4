"""Links and paths that lead out of a project, made by a repository or by an agent: nothing is written at their end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.loops import atom
from tests.runner.agents import ANYBODY, scripted

from faults.hostile_places import Case, a_place, manners
from faults.injection.traps import Trap


def _outside(folder: Path) -> Path:
    outside = folder / "outside"
    outside.mkdir()
    (outside / "secret").write_text("the secret\n")
    return outside


def _journal_is_a_link(folder: Path) -> Iterator[str]:
    project, _ = a_place(folder, atom("A1", run="echo a > a"), base_case="test -f a")
    (project.root / ".aot").symlink_to(_outside(folder))
    yield from manners(project.run())


def _attempts_are_a_link(folder: Path) -> Iterator[str]:
    project, _ = a_place(folder, atom("A1", run="echo a > a"), base_case="test -f a")
    (project.root / ".aot").mkdir()
    (project.root / ".aot" / "attempts").symlink_to(_outside(folder))
    (project.root / ".aot" / "events.jsonl").symlink_to(folder / "outside" / "new")
    (project.root / ".aot" / ".gitignore").symlink_to(folder / "outside" / "ignore")
    yield from manners(project.run())


def _state_is_a_dangling_link(folder: Path) -> Iterator[str]:
    project, _ = a_place(folder, atom("A1"), base_case="true")
    project.state_file.unlink()
    project.state_file.symlink_to(_outside(folder) / "new.md")
    ran = project.aot("init", "--goal", "x", "--command", "true")
    yield from manners(ran)
    if ran.code == 0:
        yield "a file was made at the other end of a link"


def _state_is_a_link_to_a_file(folder: Path) -> Iterator[str]:
    project, _ = a_place(folder, atom("A1"), base_case="true")
    project.state_file.unlink()
    project.state_file.symlink_to(_outside(folder) / "secret")
    for words in (["init", "--goal", "x", "--command", "true", "--force"], ["stop"], ["run", "--yes"], ["validate"]):
        yield from manners(project.aot(*words))


def _a_folder_becomes_a_link(folder: Path) -> Iterator[str]:
    """One attempt makes `dir` a link that leads out, another one writes into it."""
    outside = folder / "outside"
    project, _ = a_place(
        folder,
        atom("A1", run=f"rm -r dir && ln -s {outside} dir"),
        atom("A2", run="echo b > dir/b.txt"),
        atom("A3", "A1", run="echo c > c.txt"),
        base_case="true",
    )
    _outside(folder)
    ran = project.run()
    yield from manners(ran)
    if not project.is_clean():
        yield f"the checkout is not clean: {project.git('status', '--porcelain')}"


def _protected_becomes_a_link(folder: Path) -> Iterator[str]:
    project, _ = a_place(
        folder,
        atom("A1", run="mkdir -p other && echo 'assert 1' > other/test_a.py && rm -r tests && ln -s other tests"),
        base_case="test -L tests",
        protect=("tests/**",),
    )
    ran = project.run()
    yield from manners(ran)
    if ran.code == 0 or (project.root / "tests").is_symlink():
        yield "what is protected was exchanged for a link"


def _artifacts_lead_out(folder: Path) -> Iterator[str]:
    folder.mkdir()
    outside = _outside(folder)
    paths = ["../../outside/secret", str(outside / "secret"), "out/secret", ".git/config", "a", "./../x", "dir/../../x"]
    answer = {"success": True, "bindings_delta": {"summary": "did it", "artifacts": paths}, "artifacts": paths}
    config = scripted(folder, {ANYBODY: [{"run": f"ln -s {outside} out; echo a > a", "answer": answer}]})
    files = {".gitignore": "out\n"}  # else the attempt is refused for its link
    project, _ = a_place(folder, atom("A1"), base_case="test -f a", config=config, files=files)
    yield from manners(project.run())
    bindings = project.loop.bindings
    if "A1" not in bindings or bindings["A1"].artifacts != ("a",):
        yield f"artifacts: {bindings.get('A1')}"


def _copies_lead_out(folder: Path) -> Iterator[str]:
    """Even accepted, `copy` and `link` bring nothing from outside into a worktree."""
    folder.mkdir()
    _outside(folder)
    config = 'copy = ["../outside/secret", "dir/../../outside/*"]\nlink = ["../outside"]\n'
    looks = atom("A1", run="find . -name 'secret*' > found; ls .. >> found")
    project, _ = a_place(folder, looks, base_case="test -f found", config=config)
    yield from manners(project.run())
    found = project.root / "found"
    if found.exists() and "secret" in found.read_text():
        yield "a file from outside of the project reached a worktree"


def _an_attempt_makes_its_worktree_a_link(folder: Path) -> Iterator[str]:
    outside = folder / "outside"
    project, _ = a_place(
        folder,
        atom("A1", run=f'd=$(pwd); cd /; rm -rf "$d"; ln -s {outside} "$d"'),
        atom("A2", "A1", run="echo b > b"),
        base_case="false",
    )
    _outside(folder)
    yield from manners(project.run())
    yield from manners(project.aot("clean", "--journals"))


def _git_is_told_to_run_things(folder: Path) -> Iterator[str]:
    """By attributes and modules of the repository, which an attempt may change."""
    trap = Trap(folder)
    modules = f'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch {trap.canary}-module"\n'
    modules += f"\tupdate = !touch {trap.canary}-update\n"
    project, _ = a_place(
        folder,
        atom("A1", run="echo '* filter=evil diff=evil merge=evil' > .gitattributes; echo a > a"),
        atom("A2", "A1", run="echo b > a"),
        base_case="test -f a",
        files={".gitmodules": modules, "-u": "option\n", "--output=x": "option\n"},
    )
    yield from manners(project.run())


LINKED: dict[str, Case] = {
    function.__name__.strip("_"): function
    for function in (
        _journal_is_a_link, _attempts_are_a_link, _state_is_a_dangling_link, _state_is_a_link_to_a_file,
        _a_folder_becomes_a_link, _protected_becomes_a_link, _artifacts_lead_out, _copies_lead_out,
        _an_attempt_makes_its_worktree_a_link, _git_is_told_to_run_things,
    )
}  # fmt: skip
