"""Fences under attack: every engine that works here, every way to a closed or hidden place, every kind of daemon.

As root it is done twice: once as root, and once as an ordinary user.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.process.sandbox.test_enclosure import BEAT, DAEMONS
from tests.process.sandbox.worlds import Ran, World, a_world, engines

from aotloop.errors import Unavailable
from aotloop.process import blocking_run
from aotloop.process.sandbox import Confinement
from faults.counts import Counts, Deadline

KIND = "attacks on fences"
_ORDINARY = 65534
_ROOT = Path(__file__).parents[1]
_PYTHONS = (sys.executable, "/usr/bin/python3")
"""Ours may lie in a home that other users cannot read."""
_EXCHANGES = (
    ("sub", "rm -r sub; ln -s $HOME sub"),
    ("sub", "rm -r sub; ln -s ../home sub"),
    ("sub", "rm -r sub; ln -s $(realpath ../checkout) sub"),
    ("sub", "rm -r sub; ln -s $HOME x; ln -s x sub"),
    ("sub", "rm -r sub; ln -s /proc/self/root$HOME sub"),
    ("a/home", "rm -r a; ln -s $HOME/.. a"),
    ("a/checkout", "rm -r a; ln -s .. a"),
)
"""Of the folder in which the next process starts: a process before it, or one beside it, can do that."""
_TARGETS = ("../checkout/file", "~/.config/aotloop/file", "~/.local/share/aotloop/file", "../checkout/new")
_SECRETS = ("~/.ssh/file", "~/.aws/file", "~/.config/gh/file", "~/.codex/file", "~/.local/share/aotloop/file")
_WRITES = (
    "echo x > {0}",
    "echo x >> {0}",
    "truncate -s 0 {0}",
    "rm -rf {0}; rm -rf $(dirname {0})",
    "mv {0} mine",
    "echo x > mine; mv mine {0}",
    "echo x > mine; ln -f mine {0}",
    "ln {0} mine && echo x > mine",
    "ln -s $(realpath {0}) mine && echo x > mine",
    "cd $(dirname {0}) && echo x > $(basename {0})",
    "exec 3<{0}; echo x > /proc/self/fd/3",
    "echo x > /proc/self/root$(realpath {0})",
    "echo x > /proc/self/cwd/{0}",
    "mount --bind . $(dirname {0}) && echo x > {0}",
    "unshare -Urm sh -c 'mount -o remount,rw / ; echo x > {0}'",
    "unshare -Ur sh -c 'echo x > {0}'",
    "dd if=/dev/zero of={0} bs=1 count=1 conv=notrunc",
    "cp /dev/null {0}",
    "sed -i s/file/x/ {0}",
    "python3 -c 'import os; os.truncate(os.path.expanduser(\"{0}\"), 0)'",
    "for p in /proc/[0-9]*; do echo x > $p/cwd/{0}; echo x > $p/root$(realpath {0}); done",
    "env -i HOME=$HOME setsid sh -c 'echo x > {0}'",
)
_MARKS = ("chmod 777 {0}", "touch -d 2001-01-01 {0}", "chown 1:1 {0}", "setfattr -n user.x -v 1 {0}")
_READS = (
    "cat {0}",
    "cat /proc/self/root$(realpath {0})",
    "umount $(dirname {0}); cat {0}",
    "unshare -Urm sh -c 'umount -l $(dirname {0}); cat {0}'",
    "for p in /proc/[0-9]*; do cat $p/root$(realpath {0}); done",
    "ln {0} mine; cat mine",
    "tar c $(dirname {0})",
)


def campaign(top: Path, end: Deadline) -> list[Counts]:
    users = (os.geteuid(), _ORDINARY) if os.geteuid() == 0 else (os.geteuid(),)
    return [_as_user(top, user, end) for user in users]


def _as_user(top: Path, user: int, end: Deadline) -> Counts:
    counts = Counts(kind=f"{KIND}, {'root' if user == 0 else 'ordinary user'}")
    began = time.monotonic()
    folder = top / str(user)
    folder.mkdir()
    more: dict[str, Any] = {}
    if user != os.geteuid():
        os.chown(folder, user, user)
        for parent in (top, top.parent):
            parent.chmod(0o755)
        more = {"user": user, "group": user, "extra_groups": []}
    packages = [path for path in sys.path if path.endswith("site-packages")]
    paths = os.pathsep.join([str(_ROOT), str(_ROOT / "src"), *packages])
    env = {**os.environ, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": paths}
    python = next((one for one in _PYTHONS if _works(one, env, more)), None)
    if python is None:
        counts.skipped = "this user cannot start our Python"
        return counts
    argv = [python, "-m", "faults.fences", str(folder), f"{end.left / 2:.0f}"]
    done = subprocess.run(argv, env=env, cwd=folder, capture_output=True, text=True, check=False, **more)
    for line in done.stdout.splitlines():
        name, escape = json.loads(line)
        counts.add(name, [escape] if escape else [], injections=bool(escape))
    if done.returncode != 0:
        counts.problems.append(done.stderr.strip()[-300:])
    if not counts.cases:
        counts.skipped = "no engine works here for this user"
    counts.seconds = time.monotonic() - began
    return counts


def _works(python: str, env: dict[str, str], more: dict[str, Any]) -> bool:
    try:
        argv = [python, "-c", "import msgspec, pytest, faults.fences"]
        return subprocess.run(argv, env=env, cwd="/", capture_output=True, check=False, **more).returncode == 0
    except OSError:
        return False


def _cases() -> Iterator[tuple[str, str, str]]:
    """Engine, kind and command. Landlock promises less: docs/security.md says what."""
    for engine in engines():
        for target in _TARGETS:
            yield from ((engine, "write", attack.format(target)) for attack in _WRITES)
        if engine == "bwrap":
            for target in _TARGETS[:3]:
                yield from ((engine, "write", attack.format(target)) for attack in _MARKS)
            yield from ((engine, "read", attack.format(secret)) for secret in _SECRETS for attack in _READS)
        yield from ((engine, "start", f"{folder}: {exchange}") for folder, exchange in _EXCHANGES)
        for daemon in DAEMONS.values():
            yield engine, "daemon", f"{daemon} while ! test -s beat; do sleep 0.01; done"
        yield engine, "daemon", f"for i in 1 2 3 4 5; do env -i setsid sh -c '{BEAT}' & done; sleep 0.1"


def _picture(world: World) -> dict[str, tuple[int, ...] | bytes]:
    """Times of access do not count."""
    found: dict[str, tuple[int, ...] | bytes] = {}
    for place in (world.checkout, world.home):
        for path in sorted(place.rglob("*")):
            facts = path.lstat()
            found[str(path)] = (facts.st_mode, facts.st_mtime_ns, facts.st_size, facts.st_nlink, facts.st_uid)
    return found


def _escape(world: World, engine: str, kind: str, command: str) -> str:
    """What got through; empty: nothing."""
    before = _picture(world)
    fence = world.confinement(engine)  # type: ignore[arg-type]
    ran = world.run(fence, command) if kind != "start" else _started_in(world, fence, command)
    if kind == "read":
        return "a secret was read" if "the file of" in ran.out else ""
    if kind == "daemon":
        beat = world.worktree / "beat"
        size = beat.stat().st_size
        time.sleep(0.1)
        return "a daemon lives" if beat.stat().st_size != size else ""
    changed = [path for path in {*before, *_picture(world)} if before.get(path) != _picture(world).get(path)]
    if engine == "landlock":  # the home around our own folders is not closed by it
        changed = [path for path in changed if "aotloop" in path or str(world.checkout) in path]
    return f"changed: {', '.join(changed)}" if changed else ""


def _started_in(world: World, fence: Confinement, command: str) -> Ran:
    folder, _, exchange = command.partition(": ")
    (world.worktree / folder).mkdir(parents=True)
    ran = world.run(fence, exchange)
    with suppress(Unavailable):
        blocking_run.run(replace(world.spec(fence, "echo x > new; rm -rf file .ssh"), cwd=world.worktree / folder))
    return ran


def main() -> int:
    top, end = Path(sys.argv[1]), Deadline(float(sys.argv[2]))
    for number, (engine, kind, command) in enumerate(_cases()):
        if end.is_over:
            break
        world = a_world(top / str(number))
        print(json.dumps([f"{engine}: {command}", _escape(world, engine, kind, command)]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
