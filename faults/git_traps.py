"""Traps for our git that a check leaves in the checkout: pipes, repositories and links under the names that git reads.

Behind every engine, and without one, our git then looks at the checkout and lands a commit: it runs nothing, waits for
nothing, and what cannot be done is refused in words.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from tests.git.checkouts import head, make_checkout, save, sh, write
from tests.process.sandbox.worlds import engines

from aotloop.checks.command_check import check_command
from aotloop.errors import AotError
from aotloop.fence.check_fence import checkout_confinement, fence_around
from aotloop.fence.checkout_witness import CheckoutWitness
from aotloop.git.checkout.fast_forward import Step, landing
from aotloop.git.repository import find_repository
from aotloop.process.sandbox import Policy
from faults.counts import Counts, Deadline

KIND = "traps for git in the checkout"
PLACES = tuple(
    f"{folder}{name}"
    for folder in ("", "src/", "new/", "library/", "below/", "below/src/")
    for name in (".git", ".gitattributes", ".gitignore", ".gitmodules")
    if (folder, name) != ("", ".git")  # that is git's own folder: see the checks that change the checkout
)
_PROGRAMS = "; ".join(
    f"git config {key} '{{trace}}'"
    for key in (
        *("filter.x.clean", "filter.x.smudge", "filter.x.process"),
        *("core.fsmonitor", "core.sshCommand", "diff.external"),
    )
)  # fmt: skip
_REPOSITORY = (
    "git init -q; echo '* filter=x' > .gitattributes; git add -A; git -c user.name=x -c user.email=x commit -qm x"
)
WAYS = {
    "a pipe": "mkfifo {place}",
    "a folder": "mkdir -p {place}/x",
    "a link": "ln -s {trap}/.git {place}",
    "a file": "echo 'gitdir: {trap}/.git' > {place}; echo '* filter=x' >> {place}",
    "huge": "truncate -s 300G {place}",
    "a repository": f"cd $(dirname {{place}}); {_REPOSITORY}; {_PROGRAMS}",
    "a socket": "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"{place}\")'",
}
_LONGEST = 60.0


def trapped(folder: Path, place: str, way: str, engine: str) -> Iterator[str]:
    top = make_checkout(
        folder / "project", dict.fromkeys(("a.txt", "src/c.txt", "below/b.txt", "below/src/d.txt"), "x\n")
    )
    library = make_checkout(folder / "other", {"lib.txt": "lib\n"})
    sh(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "library")
    base = save(top)
    write(top, {f"{name}/landed": "x" for name in ("src", "new", "below", "below/src")})
    work = save(top)
    sh(top, "reset", "--quiet", "--hard", base)
    trace = f"touch {folder}/TRACE; cat"
    trap = make_checkout(folder / "trap", {".gitattributes": "* filter=x\n"})
    subprocess.run(["sh", "-c", _PROGRAMS.format(trace=trace)], cwd=trap, check=True)
    root = top / "below" if place.startswith("below/") else top
    policy = None if engine == "off" else Policy(engine=engine)  # type: ignore[arg-type]
    state = str(root / ".claude" / "aot-loop-state.md")
    confinement = checkout_confinement(root, state, policy)
    witness = CheckoutWitness(root, state, confinement)
    sight = witness.begin()
    command = f"rm -rf {place}; mkdir -p $(dirname {place}); {WAYS[way].format(place=place, trap=trap, trace=trace)}"
    command = f"{command}; cd {top}; find . -name '*.txt' | xargs touch"
    with fence_around(confinement) as fence:
        check_command(f"cd {top}; {command}", root=root, timeout=20.0, env=fence.env, confinement=fence.confinement)
    (folder / "TRACE").unlink(missing_ok=True)
    began = time.monotonic()
    try:
        witness.changes(sight)
        repository = find_repository(root)
        if repository is not None:
            repository.dirty()
            with landing(repository) as lander:
                lander.go(Step(base, work, "refs/heads/main"))
    except AotError:
        pass  # it is said what is wrong
    if (folder / "TRACE").exists():
        yield "our git ran a program"
    if time.monotonic() - began > _LONGEST:
        yield "it hangs"
    if root == top and head(top) != work and not os.path.lexists(top / place):
        yield "the work did not land"


def _is_one(place: str, way: str) -> bool:
    """At the top of the checkout there is a repository already."""
    return "/" in place or way != "a repository"


def campaign(top: Path, deadline: Deadline, *, seed: int) -> list[Counts]:
    """In an order drawn by the seed."""
    counts, began = Counts(KIND), time.monotonic()
    cases = [case for case in itertools.product(PLACES, WAYS, ("off", *engines())) if _is_one(*case[:2])]
    random.Random(seed).shuffle(cases)
    for number, (place, way, engine) in enumerate(cases):
        if deadline.is_over:
            break
        folder = top / f"trap-{number}"
        try:
            counts.add(f"{place}: {way}, {engine}", list(trapped(folder, place, way, engine)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            counts.add(f"{place}: {way}, {engine}", [f"{type(error).__name__}: {error}"])
        subprocess.run(["rm", "-rf", str(folder)], check=False)
    counts.seconds = time.monotonic() - began
    return [counts]
