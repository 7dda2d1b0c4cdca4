"""Ways out of a fence that are no files of the checkout: what is there outside, and a program that tries all of them.

`HOLDS` says which engine stops which of them: the table in docs/security.md is this one, and a test compares them.
"""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from aotloop.process.sandbox import Confinement
from aotloop.process.spawn import start
from tests.process.sandbox.worlds import World, a_world

ALL = frozenset({"bwrap", "srt", "landlock"})
SPACES = frozenset({"bwrap", "srt"})
HOLDS = {
    "trace a process (ptrace)": ALL,
    "read or write its memory": ALL,
    "read its variables": ALL,
    "take its descriptors (pidfd_getfd)": ALL,
    "signal it": ALL,
    "see it, and its command line": SPACES,
    "change its limits (prlimit)": ALL,
    "type into your terminal (TIOCSTI)": ALL,
    "write to your terminal": SPACES,
    "your keyrings (keyctl)": frozenset({"bwrap", "landlock"}),
    "an abstract socket (X11, old buses)": ALL,
    "a socket that listens at the start (ssh-agent, session bus, `systemd-run --user`, docker)": SPACES,
    "a socket that listens later": frozenset({"srt"}),
    "shared memory of System V": frozenset({"bwrap"}),
    "files in `/dev/shm`": SPACES,
    "names in your data folder (inotify)": SPACES,
    "rights of a setuid program (`sudo`, `crontab`, `at`)": ALL,
    "the checkout, from a user namespace of its own": ALL,
    "a device of the kernel (disks, memory)": ALL,
    "an inherited descriptor": ALL,
}
"""By what is tried: the engines that stop it. Without an engine nothing does, but for the last."""

ATTEMPT = r"""
import ctypes, fcntl, json, os, resource, socket, sys, time
told = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
through = []

def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result

def tried(name):
    def of(attack):
        try:
            if attack():
                through.append(name)
        except (OSError, ValueError):
            pass
    return of

@tried("an inherited descriptor")
def _():
    return [n for n in os.listdir("/proc/self/fd") if int(n) > 2 and os.path.exists("/proc/self/fd/" + n)]

for pid in told["pids"]:
    @tried("trace a process (ptrace)")
    def _():
        check(libc.ptrace(0x4206, pid, 0, 0))
        libc.ptrace(17, pid, 0, 0)
        return True

    @tried("read or write its memory")
    def _():
        with open(f"/proc/{pid}/maps") as maps:
            start = int(maps.readline().split("-")[0], 16)
        with open(f"/proc/{pid}/mem", "rb") as memory:
            memory.seek(start)
            return memory.read(16)

    @tried("read its variables")
    def _():
        return open(f"/proc/{pid}/environ").read()

    @tried("take its descriptors (pidfd_getfd)")
    def _():
        return check(libc.syscall(438, os.pidfd_open(pid), 1, 0)) >= 0

    @tried("signal it")
    def _():
        os.kill(pid, 0)
        return open(f"/proc/{pid}/cmdline").read() == told["cmdlines"][str(pid)]

    @tried("see it, and its command line")
    def _():
        return open(f"/proc/{pid}/cmdline").read() == told["cmdlines"][str(pid)]

    @tried("change its limits (prlimit)")
    def _():
        resource.prlimit(pid, resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
        return open(f"/proc/{pid}/cmdline").read() == told["cmdlines"][str(pid)]

@tried("type into your terminal (TIOCSTI)")
def _():
    terminal = os.open(told["terminal"], os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(terminal, 0x5412, b"x")
    return True

@tried("write to your terminal")
def _():
    return os.write(os.open(told["terminal"], os.O_WRONLY | os.O_NOCTTY), b"x")

@tried("your keyrings (keyctl)")
def _():
    return check(libc.syscall(told["keyctl"], 0, -4, 1)) > 0

for name, address in told["sockets"].items():
    @tried(name)
    def _():
        socket.socket(socket.AF_UNIX).connect(address.replace("@", "\0"))
        return True

@tried("shared memory of System V")
def _():
    return check(libc.shmget(told["shm"], 0, 0)) >= 0

@tried("files in `/dev/shm`")
def _():
    return open(told["dev_shm"]).read() and open(told["dev_shm"], "a").write("x")

@tried("names in your data folder (inotify)")
def _():
    check(libc.inotify_add_watch(libc.inotify_init1(0), told["data"].encode(), 0x100))
    return "file" in os.listdir(told["data"])

@tried("rights of a setuid program (`sudo`, `crontab`, `at`)")
def _():
    return "NoNewPrivs:\t0" in open("/proc/self/status").read()

@tried("a device of the kernel (disks, memory)")
def _():
    for name in os.listdir("/dev"):
        if name in ("mem", "kmsg") or (os.stat("/dev/" + name).st_mode & 0o170000) == 0o060000:
            try:
                os.close(os.open("/dev/" + name, os.O_RDONLY | os.O_NONBLOCK))
                return True
            except OSError:
                pass
    os.mknod("device", 0o060600, os.makedev(254, 0))
    return True

open("ready", "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)

@tried("a socket that listens later")
def _():
    socket.socket(socket.AF_UNIX).connect(told["late"])
    return True

@tried("the checkout, from a user namespace of its own")
def _():
    check(libc.unshare(0x10000000 | 0x00020000))
    libc.mount(None, b"/", None, 0x1000 | 0x20, None)
    with open(told["checkout"], "w") as file:
        return file.write("x")

print(json.dumps(through))
"""
_KEYCTL = {"x86_64": 250, "aarch64": 219}
_IPC_CREAT, _IPC_RMID = 0o1000, 0


@contextmanager
def _outside(world: World, fence: Confinement | None) -> Iterator[dict[str, object]]:
    """A process of ours, another attempt behind the same fence, a terminal, sockets, memory. Told to the attempt."""
    with ExitStack() as stack:
        short = Path(stack.enter_context(TemporaryDirectory(prefix="s-")))
        dev_shm = Path(stack.enter_context(TemporaryDirectory(prefix="aot-", dir="/dev/shm"))) / "file"
        dev_shm.write_text("of the person")
        ours = stack.enter_context(subprocess.Popen(["sleep", "1000"], stdout=subprocess.DEVNULL))
        stack.callback(ours.kill)
        other = start(world.spec(fence, "exec sleep 1000"))
        stack.callback(lambda: [pipe.close() for pipe in other.outputs.values()])
        stack.callback(other.let_go)
        stack.callback(other.wait)
        stack.callback(other.send, 9)
        terminal, slave = os.openpty()
        stack.callback(os.close, terminal)
        stack.callback(os.close, slave)
        libc, key = ctypes.CDLL(None), int.from_bytes(os.urandom(3), "big") + 1
        shared = libc.shmget(key, 4096, _IPC_CREAT | 0o600)
        stack.callback(libc.shmctl, shared, _IPC_RMID, None)
        addresses = dict(zip(_sockets(), (f"\0{short}", str(short / "s")), strict=True))
        for address in addresses.values():
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        pids = [ours.pid, other.pid, os.getpid()]
        yield {
            "pids": pids[:2],
            "cmdlines": {str(pid): Path(f"/proc/{pid}/cmdline").read_text() for pid in pids},
            "terminal": os.ttyname(slave),
            "keyctl": _KEYCTL.get(os.uname().machine, -1),
            "sockets": {name: address.replace("\0", "@") for name, address in addresses.items()},
            "late": str(world.home / "late"),
            "shm": key,
            "dev_shm": str(dev_shm),
            "data": str(world.home / ".local/share/aotloop"),
            "checkout": str(world.checkout / "file"),
        }


def _sockets() -> list[str]:
    return [name for name in HOLDS if "abstract socket" in name or "at the start" in name]


def through(engine: str) -> set[str]:
    """What gets through behind this engine."""
    with TemporaryDirectory(prefix="w-") as folder:  # a short name, because of the sockets
        world = a_world(Path(folder).resolve())
        fence = None if engine == "off" else world.confinement(engine)  # type: ignore[arg-type]
        with _outside(world, fence) as told, _listening_later(world, str(told["late"])):
            (world.worktree / "attempt.py").write_text(ATTEMPT)
            ran = world.run(fence, shlex.join([sys.executable, "attempt.py", json.dumps(told)]))
    assert ran.status == 0, ran.err
    return set(json.loads(ran.out))


@contextmanager
def _listening_later(world: World, path: str) -> Iterator[None]:
    """From the moment on when the attempt says that it is ready."""
    ready, go = world.worktree / "ready", world.worktree / "go"
    listen = (
        f"import socket; s = socket.socket(socket.AF_UNIX); s.bind({path!r}); s.listen(); open('{go}', 'w'); input()"
    )
    command = f"while ! test -e {ready}; do sleep 0.01; done; exec python3 -c {shlex.quote(listen)}"
    with subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE) as listener:
        yield
        listener.communicate(b"\n")
