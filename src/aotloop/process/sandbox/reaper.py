"""The reaper: a small parent of one attempt, for machines without namespaces. It dies last, and leaves no process.

It is a program of its own: `python reaper.py CONTROL TOLD ENVIRONMENT RULES -- ARGV`. A process that loses its parent
becomes its child, also one that cleared its environment and left its session. When the first child ends, the reaper
writes the status to TOLD, and whether others are left. It ends when none is left. When the other end of CONTROL is
closed (we ask for it, or we were killed), it kills all of them. It needs no mark to find them.

It imports nothing of ours except `landlock`, which lies beside it.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # without the names, which take longer than all the rest
import os
import select
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36
_PAUSE = 0.01
_MOST_ROUNDS = 1000
"""Then what is left cannot be killed: it belongs to another user, or hangs in the kernel."""
_NOT_STARTED = 126


def main(words: list[str]) -> int:
    control, told, given, rules = map(int, words[:4])
    # A process group is told to end together with us. We stay, and see to it.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _ignore)
    _adopt_orphans()
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _ignore)
    child = os.fork()  # noqa: TID251 - a program of its own, with one thread
    if child == 0:
        os.close(control)
        os.close(told)
        _become(words[5:], given, rules)
    for descriptor in (0, 1, 2):  # only its own processes hold its streams
        _let_go(descriptor)
    _watch(child, control, told, wake)
    _kill_all()
    return 0


def _adopt_orphans() -> None:
    arguments = (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        import _ctypes  # noqa: PLC0415 - what ctypes is made of, in a third of its time

        program = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
        _ctypes.call_function(_ctypes.dlsym(program, "prctl"), arguments)
    except (ImportError, AttributeError):
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(*arguments)


def _ignore(number: int, frame: object) -> None:
    """A handler, because `SIG_IGN` would be inherited."""


def _become(argv: list[str], given: int, rules: int) -> None:
    try:
        env = dict(pair.split(b"=", 1) for pair in _content(given))
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        if rules >= 0:
            _give_up(rules)
        os.execvpe(argv[0], argv, env)  # noqa: S606 - what the caller was asked to start
    except OSError as error:
        os.write(2, f"{argv[0]} cannot be started: {error.strerror}\n".encode("utf-8", "replace"))
    finally:
        os._exit(_NOT_STARTED)


def _give_up(rules: int) -> None:
    import landlock  # type: ignore[import-not-found] # noqa: PLC0415 - beside this file; not everything has rules

    landlock.give_up_files([os.fsdecode(path) for path in _content(rules)])


def _content(descriptor: int) -> list[bytes]:
    os.lseek(descriptor, 0, os.SEEK_SET)
    with os.fdopen(descriptor, "rb") as file:
        return [part for part in file.read().split(b"\0") if part]


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - pathlib takes long to import
        return file.read()


def _let_go(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, descriptor)
    os.close(null)


def _watch(child: int, control: int, told: int, wake: int) -> None:
    """Returns when no process is left, or when all that are left have to be killed."""
    while True:
        for pid, status in _reaped():
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                os.write(told, f"{code} {int(_has_children())}\n".encode())
        if not _has_children():
            return
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
        if control in ready and not os.read(control, 1):
            return


def _reaped() -> list[tuple[int, int]]:
    found = []
    try:
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            found.append(ended)
    except ChildProcessError:
        pass
    return found


def _has_children() -> bool:
    """Also zombies count, until `_reaped` takes note of them."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _kill_all() -> None:
    """First all are stopped, until no new one appears: so none can start another while they are killed."""
    for _ in range(_MOST_ROUNDS):
        _reaped()
        if not _has_children():
            return
        seen: set[int] = set()
        while new := _descendants() - seen:
            for pid in new:
                _send(pid, signal.SIGSTOP)
            seen |= new
        for pid in seen:
            _send(pid, signal.SIGKILL)
        time.sleep(_PAUSE)


def _send(pid: int, number: int) -> None:
    try:  # noqa: SIM105 - contextlib takes long to import
        os.kill(pid, number)
    except OSError:
        pass


def _descendants() -> set[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - pathlib takes long to import
        if name.isdigit():
            try:
                facts = _read(f"/proc/{name}/stat")
                state, parent = facts[facts.rindex(b")") + 1 :].split(None, 2)[:2]
                if state not in b"ZX":
                    children.setdefault(int(parent), []).append(int(name))
            except (OSError, ValueError, IndexError):
                continue
    found: set[int] = set()
    below = [os.getpid()]
    while below:
        for pid in children.pop(below.pop(), []):
            found.add(pid)
            below.append(pid)
    return found


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
