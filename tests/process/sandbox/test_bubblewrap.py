"""Behind bubblewrap only what is open can be changed, and secrets are not there. Skipped where it does not work."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from aotloop.process.sandbox import Confinement, Policy
from aotloop.process.sandbox.bubblewrap import arguments
from aotloop.process.sandbox.engine import why_not_bwrap
from tests.process.sandbox.worlds import a_world

pytestmark = pytest.mark.skipif(why_not_bwrap() is not None, reason=f"{why_not_bwrap()}")


ATTACKS = [
    "echo x > ../checkout/file",
    "truncate -s 0 ../checkout/file",
    "chmod 777 ../checkout/file",
    "touch -d 2001-01-01 ../checkout/file",
    "ln ../checkout/file mine",
    "mv ../checkout/file mine",
    "mount --bind . ../checkout",
    "unshare -Urm sh -c 'mount -o remount,rw,bind ../checkout ../checkout && echo x > ../checkout/file'",
    "echo x > ~/new",
    "echo x > ~/.config/aotloop/config.toml",
    "test -e ~/.ssh/file",
    "test -e ~/.aws/file",
    "test -e ~/.config/gh/file",
    "test -e ~/.codex/file",
    "test -e ~/.claude/file",
    "test -e ~/.local/share/aotloop/file",
    "umount ~/.ssh && test -e ~/.ssh/file",
    "echo x > /dev/tty",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_fails_and_changes_nothing(tmp_path: Path, attack: str) -> None:
    world = a_world(tmp_path)
    before = (world.checkout / "file").stat()
    ran = world.run(world.confinement("bwrap"), attack)
    assert ran.status not in {0, None}
    after = (world.checkout / "file").stat()
    assert (before.st_mode, before.st_mtime_ns, before.st_size, before.st_nlink) == (
        *(after.st_mode, after.st_mtime_ns, after.st_size, after.st_nlink),
    )


def test_the_worktree_and_temporary_files_are_writable(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    work = "echo a > file && mkdir d && mv file d/f && chmod 700 d && mktemp && echo x > /tmp/x && echo x > /dev/null"
    assert world.run(world.confinement("bwrap"), work).status == 0
    assert (world.worktree / "d" / "f").read_text() == "a\n"
    assert not Path("/tmp/x").exists()


def test_the_client_that_runs_has_its_state_and_no_other(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    (world.home / ".claude" / ".credentials.json").write_text("a login\n")
    command = "cat ~/.claude/file && echo new > ~/.claude/.credentials.json && test ! -e ~/.codex/file"
    assert world.run(world.confinement("bwrap", "claude"), command).status == 0
    assert (world.home / ".claude" / ".credentials.json").read_text() == "new\n"
    assert (world.home / ".claude.json").exists()


def _picture(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): str(path.readlink()) if path.is_symlink() else path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize(
    "attack", ["echo x > {0}", "rm -rf {0}; echo x > {0}", "mv {0} old; cp -r old {0}; ln -sf / {0}"]
)
def test_nothing_of_a_private_state_is_changed_but_the_login(tmp_path: Path, attack: str) -> None:
    """Programs, scripts, links to a folder of the person's, and shells' snapshots: sessions of the person run them."""
    world = a_world(tmp_path)
    state = world.home / ".claude"
    (world.home / "mine").mkdir()
    (world.home / "mine" / "settings.json").write_text("{}")
    for name in ("local/claude", "statusline.sh", "shell-snapshots/a.sh", "projects/-p/memory/MEMORY.md", "unknown/x"):
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text("the person's")
    (state / "settings.json").symlink_to("../mine/settings.json")
    (state / "skills").symlink_to(world.home / "mine")
    (state / ".credentials.json").write_text("a login")
    fence = world.confinement("bwrap", "claude")
    assert world.run(fence, "cat ~/.claude/settings.json ~/.claude/skills/settings.json").out == "{}{}"
    before = _picture(world.home)
    tries = "; ".join(attack.format(f"~/.claude/{name}") for name in sorted(_picture(state)) if name[0] != ".")
    world.run(fence, f"{tries}; cd ~/.claude; for f in *; do {attack.format('$f')}; done; mkdir new; echo x > new/x")
    assert _picture(world.home) == before


def test_what_the_person_names_stays_writable(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    fence = world.confinement("bwrap").under(Policy(writable=(str(world.home / ".aws"),)))
    assert world.run(fence, "cat ~/.aws/file && echo new > ~/.aws/file").status == 0


@pytest.mark.parametrize("closed", ["secret", "a/b/secret"])
def test_no_folder_above_what_is_closed_can_be_exchanged(tmp_path: Path, closed: str) -> None:
    """An open place would let a folder above a closed one be renamed, and another one be made under its name."""
    world = a_world(tmp_path)
    place = world.home / "open" / closed
    place.mkdir(parents=True)
    (place / "file").write_text("the person's")
    fence = world.confinement("bwrap").opened(world.home / "open")
    for kind in ({"closed": (str(place),)}, {"hidden": (str(place),)}):
        top = closed.partition("/")[0]
        attack = f"cd ~/open; touch new; mv {top} moved; rm -rf {top}; mkdir -p {closed}; echo x > {closed}/file"
        world.run(fence.under(Policy(engine="bwrap", **kind)), attack)  # type: ignore[arg-type]
        assert (place / "file").read_text() == "the person's"
        assert {path.name for path in (world.home / "open").iterdir()} == {top, "new"}


def test_words_of_a_prompt_open_no_temporary_folder() -> None:
    """Seen: a task of the repository named a folder in its text, and an agent could read it."""

    def is_there(folder: str, env: dict[str, str], *words: str) -> bool:
        told = arguments("bwrap", Confinement(closed=()), Path("/"), env, ("agent", *words))
        return folder in told[: told.index("--")]

    with TemporaryDirectory(prefix="s-", dir="/var/tmp") as secret:
        prompts = (f"Do this:{secret}/x: and that", f":{secret}", f"{secret}\nis it", f"{secret}:and more", secret)
        assert not is_there(secret, {"AOT_ATOM_ID": secret, "WORDS": f"see:{secret}"}, *prompts)
        assert is_there(secret, {"X": f"/bin:{secret}/bin"})
        assert is_there(secret, {}, f"{secret}/script.py")


def test_processes_outside_are_not_there(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    ran = world.run(world.confinement("bwrap"), "ls /proc | grep -c '^[0-9]'; cat /proc/1/environ | tr '\\0' '\\n'")
    assert int(ran.out.split()[0]) < 10
    assert "PYTEST" not in ran.out


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder for sockets: their paths have at most 107 characters."""
    with TemporaryDirectory(prefix="s-") as folder:
        yield Path(folder)


def test_a_service_that_listens_cannot_be_reached(
    tmp_path: Path, short_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = a_world(short_path)
    path = world.home / "service.sock"
    monkeypatch.chdir(world.home)
    connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace('@', chr(0))); print('in')"
    with (
        socket.socket(socket.AF_UNIX) as named,
        socket.socket(socket.AF_UNIX) as relative,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        named.bind(str(path))
        named.listen()
        relative.bind("relative.sock")
        relative.listen()
        abstract.bind(f"\0aot-{tmp_path.name}")
        abstract.listen()
        (world.worktree / "connect.py").write_text(connect)
        for address in (str(path), f"{world.home}/relative.sock", f"@aot-{tmp_path.name}"):
            program = f"python3 connect.py '{address}'"
            assert subprocess.run(["sh", "-c", program], cwd=world.worktree, capture_output=True, check=True).stdout
            ran = world.run(world.confinement("bwrap"), program)
            assert (ran.status, ran.out) == (1, ""), address


def test_sockets_that_come_and_go_keep_nothing_from_starting(short_path: Path) -> None:
    """Seen: bubblewrap could not hide a socket that had vanished after it was listed, and a test command failed."""
    world = a_world(short_path)
    is_over = threading.Event()

    def come_and_go() -> None:
        there: list[tuple[socket.socket, Path]] = []
        for number in count():
            if is_over.is_set():
                break
            there.append((socket.socket(socket.AF_UNIX), world.home / str(number)))
            there[-1][0].bind(str(there[-1][1]))
            if len(there) > 20:  # so each is there long enough to be listed
                service, path = there.pop(0)
                path.unlink()
                service.close()
        for service, _ in there:
            service.close()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        ran = [world.run(world.confinement("bwrap"), "true") for _ in range(8)]
    finally:
        is_over.set()
        thread.join()
    assert {(each.status, each.err) for each in ran} == {(0, "")}


def test_what_stays_open_is_what_the_page_says(tmp_path: Path) -> None:
    """If one of these fails, it is closed now, and the page says less than is true."""
    world = a_world(tmp_path)
    pipe, secret = world.home / "pipe", world.home / ".netrc"
    os.mkfifo(pipe)
    secret.write_text("old")
    told = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    replace = "while ! test -e ready; do sleep 0.01; done; echo new > ~/n; mv ~/n ~/.netrc; touch go"
    with subprocess.Popen(["sh", "-c", replace], cwd=world.worktree, env={**os.environ, "HOME": str(world.home)}):
        command = "echo x > ~/pipe; cat ~/.netrc; touch ready; while ! test -e go; do sleep 0.01; done; cat ~/.netrc"
        ran = world.run(world.confinement("bwrap"), command)
    assert (ran.out, os.read(told, 9)) == ("new\n", b"x\n")
    os.close(told)


def test_without_a_network_there_is_none(tmp_path: Path) -> None:
    world = a_world(tmp_path)
    fence = world.confinement("bwrap").under(Policy(network="none"))
    assert world.run(fence, "cat /proc/net/dev | tail -n +3 | cut -d: -f1").out.split() == ["lo"]


def test_nothing_of_the_kernel_can_be_changed(tmp_path: Path) -> None:
    """The root user owns the files of /proc, and needs no other right to write there. Only rights are looked at."""
    world = a_world(tmp_path)
    ran = world.run(world.confinement("bwrap"), f"exec {shlex.quote(sys.executable)} -c {shlex.quote(LOOK)}")
    assert ran.status == 0, ran.err
    writable, *mounts = ran.out.splitlines()
    assert writable == "[]"
    usual = ("/dev", "/proc", "/tmp", "/var/tmp", "/run")
    assert [one for one in mounts if one not in usual and not one.startswith(("/dev/", str(tmp_path)))] == []


LOOK = """
import os
import shlex
import sys
found = [one.path for one in os.scandir("/proc") if not one.name.isdigit() and not one.is_symlink()]
below = [f"{folder}/{name}" for one in found for folder, _, names in os.walk(one) for name in names]
print([one for one in (*found, *below) if os.access(one, os.W_OK)])
for line in open("/proc/self/mountinfo"):
    words = line.split()
    if "rw" in words[5].split(","):
        print(words[4])
"""
