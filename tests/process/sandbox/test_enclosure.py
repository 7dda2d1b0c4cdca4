"""Nothing gets away: whatever an attempt starts ends with it, with every engine that works here and without any."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.checks.command_check import check_command
from aotloop.errors import Unavailable
from aotloop.process.sandbox import Confinement
from aotloop.process.sandbox.bubblewrap import arguments
from aotloop.process.sandbox.enclosure import Namespace
from aotloop.process.sandbox.resolved_fence import resolved
from aotloop.process.spawn import start
from tests.agents.assignments import LINUX, all_dead
from tests.patience import until
from tests.process.sandbox.worlds import World, a_world, engines

pytestmark = pytest.mark.skipif(not LINUX, reason="only Linux has namespaces and reapers")

ENGINES = [*engines(), "off"]
BEAT = "while :; do echo x >> beat; sleep 0.02; done"
DAEMONS = {
    "cleared its environment": f"env -i setsid sh -c '{BEAT}' >/dev/null 2>&1 &",
    "forked twice": f"(setsid sh -c '({BEAT}) &' &) >/dev/null 2>&1;",
    "ignores signals": f"env -i setsid sh -c 'trap \"\" TERM INT HUP; {BEAT}' >/dev/null 2>&1 &",
    "starts itself again": "echo 'echo x >> beat; sleep 0.02; env -i PATH=$PATH setsid sh ./again &' > again;"
    " env -i PATH=$PATH setsid sh ./again >/dev/null 2>&1 &",
}


def fence_of(world: World, engine: str) -> Confinement | None:
    return None if engine == "off" else world.confinement(engine)  # type: ignore[arg-type]


def beats(world: World) -> int:
    beat = world.worktree / "beat"
    return beat.stat().st_size if beat.exists() else 0


def is_silent(world: World) -> bool:
    before = beats(world)
    done = subprocess.run(["sleep", "0.1"], check=True)  # five times the pause between two beats
    return done.returncode == 0 and beats(world) == before


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("daemon", DAEMONS)
def test_a_daemon_ends_with_its_attempt(tmp_path: Path, engine: str, daemon: str) -> None:
    world = a_world(tmp_path)
    waits = "while ! test -s beat; do sleep 0.01; done"
    ran = world.run(fence_of(world, engine), f"{DAEMONS[daemon]} {waits}; exit 7")
    assert ran.status == 7
    assert beats(world)
    assert is_silent(world)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("daemon", DAEMONS)
def test_a_daemon_ends_with_its_check(tmp_path: Path, engine: str, daemon: str) -> None:
    """Also without a fence: seen, a daemon that cleared its environment outlived `aot verify`."""
    world = a_world(tmp_path)
    waits = "while ! test -s beat; do sleep 0.01; done"
    result = check_command(f"{DAEMONS[daemon]} {waits}", root=world.worktree, confinement=fence_of(world, engine))
    assert result.passed, result.evidence
    assert beats(world)
    assert is_silent(world)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_daemon_ends_when_we_are_killed(tmp_path: Path, engine: str) -> None:
    world = a_world(tmp_path)
    program = (
        "import sys; from pathlib import Path; from tests.process.sandbox.worlds import World\n"
        "from tests.process.sandbox.test_enclosure import DAEMONS, fence_of\n"
        "world = World(**{name: Path(sys.argv[1], name) for name in ('home', 'checkout', 'worktree')})\n"
        "world.run(fence_of(world, sys.argv[2]), DAEMONS['cleared its environment'] + ' sleep 1000')\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path), engine], env=env) as process:
        until(lambda: beats(world) > 0, "the daemon does not run")
        process.send_signal(signal.SIGKILL)
    until(lambda: is_silent(world), "the daemon outlives us")


@pytest.mark.parametrize("engine", ENGINES)
def test_the_end_is_told_as_it_was(tmp_path: Path, engine: str) -> None:
    world = a_world(tmp_path)
    fence = fence_of(world, engine)
    assert world.run(fence, "echo out; echo err >&2; exit 3").status == 3
    killed = world.run(fence, "kill -SEGV $$").status
    assert killed in {-signal.SIGSEGV, 128 + signal.SIGSEGV}
    with pytest.raises(FileNotFoundError):
        start(replace(world.spec(fence, ""), argv=("/no/such/program",)))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_environment_is_the_given_one(tmp_path: Path, engine: str) -> None:
    world = a_world(tmp_path)
    names = {line.partition("=")[0] for line in world.run(fence_of(world, engine), "env").out.splitlines()}
    assert "LC_CTYPE" not in names
    assert {"PATH", "HOME"} <= names


@pytest.mark.parametrize("engine", engines())
def test_our_own_settings_and_records_are_closed(tmp_path: Path, engine: str) -> None:
    world = a_world(tmp_path)
    attack = "for f in ~/.config/aotloop ~/.local/share/aotloop; do echo x > $f/file; echo x > $f/new; rm -rf $f; done"
    world.run(world.confinement(engine), attack)  # type: ignore[arg-type]
    for name in (".config/aotloop", ".local/share/aotloop"):
        assert (world.home / name / "file").read_text() == "the file of aotloop"
        assert not (world.home / name / "new").exists()


@pytest.mark.parametrize("engine", engines())
def test_our_own_processes_cannot_be_ended_from_behind_the_fence(tmp_path: Path, engine: str) -> None:
    world = a_world(tmp_path)
    with subprocess.Popen(["sleep", "1000"]) as ours:
        ran = world.run(world.confinement(engine), f"kill -9 {ours.pid}")  # type: ignore[arg-type]
        assert ran.status != 0
        assert not all_dead([ours.pid])
        ours.kill()


@pytest.mark.parametrize("engine", engines())
def test_the_folder_of_another_attempt_is_not_there(tmp_path: Path, engine: str) -> None:
    """A login that was lent to another attempt lies in it, or sockets of what it tests.

    Seen: an attempt that made and removed sockets kept all others from starting.
    """
    world = a_world(tmp_path)
    fence = world.confinement(engine)  # type: ignore[arg-type]
    for kind in ("scratch", "worktrees/of-a-project"):
        folder = world.home / ".cache" / "aot" / kind
        for name in ("for-me", "for-another"):
            (folder / name).mkdir(parents=True)
            (folder / name / "file").write_text(f"lent {name}")
        fence = fence.opened(folder / "for-me")
    look = "cat */file for-another/file; echo x > for-me/new"
    ran = world.run(fence, f"cd ~/.cache/aot/scratch; {look}; cd ../worktrees/of-a-project; {look}")
    assert ran.out == "lent for-melent for-me"
    assert (folder / "for-me" / "new").exists()


def test_no_socket_of_another_attempt_is_hidden_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be gone when the engine looks, which then would not start."""
    world = a_world(tmp_path)
    spec = world.spec(world.confinement("bwrap"), "true")
    for place, is_named in ((".cache/aot/worktrees/of-a-project/other", False), ("services", True)):
        (world.home / place).mkdir(parents=True)
        monkeypatch.chdir(world.home / place)  # the whole path may be too long
        with socket.socket(socket.AF_UNIX) as service:
            service.bind("a-service")
            argv = arguments("bwrap", world.confinement("bwrap"), spec.cwd, spec.env, spec.argv)
        assert any(word.endswith("/a-service") for word in argv) == is_named


@pytest.mark.skipif("bwrap" not in ENGINES, reason="bubblewrap does not work here")
@pytest.mark.parametrize(("command", "is_over"), [("exit 0", True), ("sleep 60", False)])
def test_a_namespace_is_known_to_be_empty_when_its_first_process_has_ended(
    tmp_path: Path, command: str, *, is_over: bool
) -> None:
    world = a_world(tmp_path)
    process = start(world.spec(world.confinement("bwrap"), command))
    guard = process.guard
    assert isinstance(guard, Namespace)
    try:
        if is_over:
            until(guard.is_empty)
            until(lambda: process.poll() is not None)
        else:
            until(lambda: os.pread(guard.told, 100, 0))
            assert not guard.is_empty()
    finally:
        process.send(signal.SIGKILL)
        process.wait()
    until(guard.is_empty)
    process.let_go()
    for pipe in process.outputs.values():
        pipe.close()
    assert not guard.is_empty(), "then nothing is known"


@pytest.mark.parametrize("engine", engines())
def test_a_link_in_the_place_of_its_folder_opens_nothing(tmp_path: Path, engine: str) -> None:
    """Seen: the project was a folder of its repository; a check made it a link to the home, the next one changed it."""
    world = a_world(tmp_path)
    fence = fence_of(world, engine)
    folder = world.worktree / "project"
    there = replace(world.spec(fence, "echo x > new"), cwd=folder)
    folder.mkdir()
    started = resolved(fence, there.env, folder)  # type: ignore[arg-type] # an engine has one
    assert str(folder) not in started.open  # else a link that comes in between would be followed
    world.run(fence, f"rmdir project; ln -s {world.home} project")
    with pytest.raises(Unavailable, match="is a link"):
        start(there)
    assert not (world.home / "new").exists()
