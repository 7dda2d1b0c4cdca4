"""Checks that change the checkout: every place that they may not change, in every way, behind every engine.

Each variant has to be named afterwards, or the fence has kept the place as it was. Nothing hangs and nothing fails.
"""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.git.checkouts import make_checkout
from tests.process.sandbox.worlds import engines

from aotloop.checks.command_check import check_command
from aotloop.fence.check_fence import checkout_confinement, fence_around
from aotloop.fence.checkout_witness import CheckoutWitness
from aotloop.process.sandbox import Policy
from faults.counts import Counts, Deadline

KIND = "checks that change the checkout"
STATE = ".claude/aot-loop-state.md"
PLACES = (
    ".git/config", ".git/hooks/pre-commit", ".git/hooks/new", ".git/info/attributes", ".git/info/exclude", ".git/HEAD",
    ".git/refs/heads/other", ".git/refs/heads/new", ".git/refs/tags/new", ".git/index", ".git/commondir",
    ".aot/attempts/A1-1/record.json", ".aot/attempts/A1-1/record.codes", ".aot/attempts/A2-2/record.json",
    ".aot/events.jsonl", STATE, ".claude/settings.json", "aot.toml", ".mcp.json", "a.txt", "src/c.txt",
)  # fmt: skip
WAYS = {
    "other content": "echo other > {place}",
    "appended": "echo more >> {place}",
    "removed": "rm -f {place}",
    "a link": "rm -f {place}; ln -s /etc/passwd {place}",
    "a pipe": "rm -f {place}; mkfifo {place}",
    "a folder": "rm -f {place}; mkdir {place}; echo x > {place}/x",
    "executable": "chmod 755 {place}",
    "huge": "truncate -s 40G {place}",
    "exchanged": "echo other > beside; mv -f beside {place}",
}
HARMLESS = frozenset(
    {
        *(
            (".aot/events.jsonl", way) for way in ("appended", "huge", "executable")
        ),  # evidence for people, which grows meanwhile
        *((f".git/refs/{name}/new", "a folder") for name in ("heads", "tags")),  # git knows no ref there
    }
)
_LONGEST = 20.0
_SMALL = 1_000_000


def changed(folder: Path, place: str, way: str, engine: str) -> Iterator[str]:
    root = make_checkout(folder / "project")
    for name in (".aot/attempts/A1-1/record.json", ".aot/events.jsonl", STATE, ".git/hooks/pre-commit"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("as it was\n")
    (root / ".git/info/exclude").write_text(".aot\n.claude\naot.toml\n.mcp.json\nbeside\n")
    subprocess.run(["git", "branch", "other"], cwd=root, check=True)
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    policy = None if engine == "off" else Policy(engine=engine)  # type: ignore[arg-type]
    confinement = checkout_confinement(root, str(root / STATE), policy)
    witness, before = CheckoutWitness(root, str(root / STATE), confinement), _seen(root, place)
    sight, began = witness.begin(), time.monotonic()
    with fence_around(confinement) as fence:
        command = WAYS[way].format(place=place)
        check_command(command, root=root, timeout=_LONGEST, env=fence.env, confinement=fence.confinement)
    is_changed = _seen(root, place) != before
    named = witness.changes(sight)
    if is_changed and not named and (place, way) not in HARMLESS:
        yield "it is not noticed"
    if time.monotonic() - began > 3 * _LONGEST:
        yield "it hangs"


def _seen(root: Path, place: str) -> object:
    """The file as it is now, without its times; a large one by its size. Refs, HEAD and the index as git sees them."""
    path = root / place
    if place.startswith((".git/refs", ".git/HEAD", ".git/index")) and (path.is_file() or not os.path.lexists(path)):
        words = "git for-each-ref; git symbolic-ref HEAD; git ls-files --stage"
        with suppress(subprocess.TimeoutExpired):
            return subprocess.run(words, shell=True, cwd=root, capture_output=True, timeout=5, check=False).stdout
    try:
        found = path.lstat()
    except OSError:
        return None
    if path.is_symlink():
        return found.st_mode, os.readlink(path)  # noqa: PTH115 - its exact text
    is_small = path.is_file() and found.st_size < _SMALL
    return found.st_mode, found.st_size if path.is_file() else 0, path.read_bytes() if is_small else b""


def campaign(top: Path, deadline: Deadline, *, seed: int) -> list[Counts]:
    """In an order drawn by the seed."""
    counts, began = Counts(KIND), time.monotonic()
    cases = [*itertools.product(PLACES, WAYS, ("off", *engines()))]
    random.Random(seed).shuffle(cases)
    for number, (place, way, engine) in enumerate(cases):
        if deadline.is_over:
            break
        folder = top / f"case-{number}"
        try:
            counts.add(f"{place}: {way}, {engine}", list(changed(folder, place, way, engine)))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            counts.add(f"{place}: {way}, {engine}", [f"{type(error).__name__}: {error}"])
        subprocess.run(["rm", "-rf", str(folder)], check=False)
    counts.seconds = time.monotonic() - began
    return [counts]
