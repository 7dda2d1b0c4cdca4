"""What an agent can put where git looks: paths of its worktree and around, with links, pipes, devices and forgeries.

Each variant is one attempt of a real run. The traces are only left by what runs, or writes, outside of the fence: an
agent cannot make them itself. After each run, the person's git folder, home and checkout are as they were.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from pathlib import Path

from tests.loops import atom
from tests.runner.agents import done, scripted
from tests.runner.leftovers import leftovers
from tests.runner.projects import Project, a_project

from aotloop.core.model import Constraints
from aotloop.deletion import remove_tree
from aotloop.process.sandbox import is_possible
from faults.counts import Counts, Deadline
from faults.hostile_places import let_agents_note, manners, untried

KIND = "git: what agents leave for it"
AT_ONCE = 12
LONGEST_SECONDS = 90.0

PLACES = (
    *(f".git/{name}" for name in (
        "HEAD", "config", "config.worktree", "index", "index.lock", "commondir", "gitdir", "packed-refs", "shallow",
        "logs", "logs/HEAD", "refs", "refs/heads/main", "objects", "objects/info/alternates", "info", "info/attributes",
        "info/exclude", "info/grafts", "hooks", "hooks/post-checkout", "modules", "worktrees", "aot", "aot-index",
        "aot-noise", "aot-branches", "aot-excludes", "MERGE_HEAD", "rebase-merge",
    )),
    ".git", ".gitignore", ".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig", ".mailmap", "dir", "dir/.git",
    "dir/.gitignore", "dir/.gitattributes", "dir/a.txt", "new/.git", "new/.git/HEAD", "new/.gitignore", "new", "HEAD",
    "../aot-x", "$HOME/.gitconfig", "$HOME/.config/git", "$HOME/.config/git/config", "$HOME/.config/git/ignore",
    "$HOME/.config/git/attributes",
)  # fmt: skip
"""Seen from the worktree."""

_RUNS = "\n".join(
    f'[{section}]\n\t{key} = "{{trace}}"'
    for section, key in (
        ("core", "fsmonitor"), ("core", "pager"), ("core", "sshCommand"), ("core", "editor"), ("diff", "external"),
        ('filter "x"', "clean"), ('filter "x"', "smudge"), ('filter "x"', "process"), ('diff "x"', "textconv"),
        ('diff "x"', "command"), ('merge "x"', "driver"), ("gpg", "program"), ("credential", "helper"),
        ("alias", "status"), ("uploadpack", "packObjectsHook"), ('filter "lfs"', "process"),
    )
)  # fmt: skip
_FORGED = {
    "config": _RUNS + "\n[core]\n\thooksPath = {evil}/hooks\n\tworktree = {root}\n[include]\n\tpath = {evil}/config\n",
    "config.worktree": _RUNS,
    ".gitconfig": _RUNS,
    "commondir": "{evil}\n",
    "gitdir": "{root}/.git\n",
    "HEAD": "ref: refs/heads/main\n",
    "logs/HEAD": "0000000000000000000000000000000000000000 {sha} x <x> 1 +0000\tcheckout: moving from main to keep\n",
    "attributes": "* filter=x diff=x merge=x\n",
    ".gitattributes": "* filter=x diff=x merge=x\n*.txt filter=lfs\n",
    ".gitmodules": '[submodule "m"]\n\tpath = dir\n\turl = ext::sh -c {trace}\n\tupdate = !{trace}\n',
    ".git": "gitdir: {evil}\n",
    "alternates": "{evil}/objects\n",
    ".gitignore": "*\n",
    "ignore": "*\n",
    "exclude": "*\n",
    "aot-noise": "{sha} tests/test_a.py\0",
}
_DEEP = 'import os; [(os.mkdir("d"), os.chdir("d")) for _ in range(3000)]'
KINDS = ("link to file", "link to folder", "link to nowhere", "pipe", "device", "folder", "huge", "deep", "forged")


def variants() -> list[tuple[str, str]]:
    return [(place, kind) for place in PLACES for kind in KINDS]


def _order(place: str, kind: str, told: dict[str, str]) -> str:
    """What the agent does, in the shell. Whatever the fence refuses is refused; the agent goes on."""
    target = place if place.startswith("$") else f"./{place}"
    forged = next((text for name, text in _FORGED.items() if place.endswith(name)), "forged\n")
    for name, value in told.items():
        forged = forged.replace(f"{{{name}}}", value)
    text = forged.replace("'", "'\\''").replace("\0", "\\0")
    acts = {
        "link to file": f"ln -s {told['root']}/.git/config {target}",
        "link to folder": f"ln -s {told['root']}/.git {target}",
        "link to nowhere": f"ln -s {told['root']}/.git/made-by-a-link {target}",
        "pipe": f"mkfifo {target}",
        "device": f"mknod {target} c 1 5",
        "folder": f"mkdir -p {target}/x && echo x > {target}/x/y",
        "huge": f"truncate -s 300G {target}",
        "deep": f"mkdir -p {target} && cd {target} && {sys.executable} -ISc '{_DEEP}'",
        "forged": f"printf '%b' '{text}' > {target}",
    }
    return f'(rm -rf "{target}"; mkdir -p "$(dirname "{target}")"; {acts[kind]}) >/dev/null 2>&1; true'


def attacked(folder: Path, chosen: list[tuple[str, str]]) -> tuple[list[str], int, int]:
    """What was wrong, how many escapes, and how much work was lost, of one run with these variants."""
    for name in ("home/.config/git", "evil/hooks", "evil/objects", "evil/refs", "outside", "trace"):
        (folder / name).mkdir(parents=True)
    root, evil = folder / "project", folder / "evil"
    program = evil / "trace.sh"
    program.write_text(f"#!/bin/sh\ntouch {root}/TRACE-$$ {folder}/trace/x 2>/dev/null; cat\n")
    program.chmod(0o755)
    shutil.copy(program, evil / "hooks" / "post-checkout")
    told = {"root": str(root), "evil": str(evil), "trace": str(program), "sha": "1" * 40}
    (evil / "config").write_text(_RUNS.replace("{trace}", str(program)))
    (evil / "HEAD").write_text("ref: refs/heads/main\n")
    names = {f"V{number}": one for number, one in enumerate(chosen)}
    orders = {
        name: [done({f"work-{name}": name}, run=f"{_order(*one, told)}; echo {name} > work-{name}")]
        for name, one in names.items()
    }
    agents = folder / "agents"
    agents.mkdir()
    project = a_project(
        folder,
        *(atom(name) for name in names),
        base_case="test -f never",
        config=scripted(agents, orders),
        files={"tests/test_a.py": "assert True\n", "dir/a.txt": "a\n"},
        protect=("tests/**",),
        constraints=Constraints(max_attempts=1, max_total_attempts=len(names), max_parallel_agents=2),
        environ={"HOME": str(folder / "home"), "XDG_CONFIG_HOME": "", "AOT_CONFINE": "auto"},
    )
    (agents / "scripted.json.asked").touch()
    let_agents_note(folder / "home", agents)
    project.git("branch", "keep")
    before = _kept(project)
    ran = project.run()
    wrong = [*manners(ran), *untried(ran)]
    if sum(one["seconds"] for one in ran.kinds("run_ended")) > LONGEST_SECONDS:  # without the start of Python
        wrong.append("it hung")
    wrong += _differences(before, _kept(project))
    escapes = [path.name for path in root.glob("TRACE*")]
    wrong += [f"was run outside of the fence: {name}" for name in escapes]
    lost = _lost(project, {one["atom"]: one["outcome"] for one in ran.kinds("attempt_ended")}, names)
    clean = project.aot("clean")
    if clean.code:
        wrong.append(f"`aot clean` ended with {clean.code}: {clean.err[-200:]}")
    wrong += [*manners(clean), *leftovers(project, ("main", "keep"))]
    told_of = ", ".join(f"{place} = {kind}" for place, kind in chosen)
    return [f"{problem} (of {told_of})" for problem in (*wrong, *lost)], len(escapes), len(lost)


def _lost(project: Project, ended: dict[str, str], names: dict[str, tuple[str, str]]) -> list[str]:
    """Work that was called done and is not there; or an attempt of which nothing is said."""
    landed = set(project.git("ls-tree", "-r", "--name-only", "HEAD").split("\n"))
    found = []
    for name, (place, kind) in names.items():
        hides_itself = kind == "forged" and place.endswith(("ignore", "exclude"))
        if name not in ended:
            found.append(f"nothing is told of {place} = {kind}")
        elif ended[name] == "done" and f"work-{name}" not in landed and not hides_itself:
            found.append(f"the work beside {place} = {kind} is lost")
    return found


def _kept(project: Project) -> dict[str, str]:
    """What no attempt may change; commits that land are not among it."""
    git = project.root / ".git"
    files = [git / name for name in ("config", "hooks", "info/exclude", "info/attributes", "HEAD")]
    kept = {str(path): path.read_text() if path.is_file() else str(path.exists()) for path in files}
    kept["branches"] = "\n".join(project.branches())
    kept["protected"] = project.git("show", "HEAD:tests/test_a.py")
    kept["top"] = str(sorted(path.name for path in git.iterdir() if not path.name.startswith(("aot", "index", "logs"))))
    kept["status"] = project.git("status", "--porcelain", "--untracked-files=no", "--", ":!.claude")
    return kept


def _differences(before: dict[str, str], after: dict[str, str]) -> list[str]:
    harmless = {"ORIG_HEAD", "COMMIT_EDITMSG"}
    told = [name for name in before if before[name] != after[name] and name != "top"]
    top = set(after["top"].strip("[]").split(", ")) ^ set(before["top"].strip("[]").split(", "))
    return [f"was changed: {name}" for name in (*told, *(one for one in top if one.strip("'") not in harmless))]


def campaign(top: Path, deadline: Deadline, *, seed: int, most: int | None = None) -> Counts:
    """All variants in an order drawn by the seed, again and again until the time is over; `most`: of them at most."""
    counts = Counts(KIND)
    if not is_possible():
        counts.skipped = "this kernel has no Landlock"
        return counts
    wanted = variants()
    random.Random(seed).shuffle(wanted)
    wanted = wanted[:most]
    began = time.monotonic()
    for start in range(0, len(wanted), AT_ONCE):
        if deadline.is_over:
            break
        chosen, folder = wanted[start : start + AT_ONCE], top / f"git-{start}"
        wrong, escapes, lost = attacked(folder, chosen)
        for number, (place, kind) in enumerate(chosen):
            is_first = number == 0
            counts.add(
                f"{place} = {kind}",
                wrong if is_first else [],
                lost=lost if is_first else 0,
                injections=escapes if is_first else 0,
            )
        remove_tree(folder)
    counts.seconds = time.monotonic() - began
    return counts
