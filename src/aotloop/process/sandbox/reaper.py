"""The reaper: a small parent of one command, for machines without namespaces. It dies last, and leaves no process.

`main` is a fork server: it forks a reaper for each message on its socket, and ends when the other end is closed. So a
command costs two forks, and not the start of a Python. A process that loses its parent becomes a child of its reaper,
also one that cleared its environment and left its session. When the command ends, the reaper writes the status to TOLD,
and whether others are left. It ends when none is left. When the other end of CONTROL is closed (we ask for it, or we
were killed), it kills all of them. It needs no mark to find them.

It is a program of its own. It imports nothing of ours except what lies beside it: `descendants`, `landlock` and
`call_filter`. The server itself never reads what a command is given.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # without the names, which take longer than all the rest
import _socket
import gc
import marshal
import os
import select
import sys
import time
from collections.abc import Callable

if __package__:
    from aotloop.process.sandbox import descendants
else:  # as a program
    import descendants  # type: ignore[import-not-found, no-redef]

Env = dict[bytes, bytes]
Described = tuple[bytes, list[bytes], Env, bytes, tuple[int, ...], list[bytes] | None]
"""A command: its program, its words, its variables, its folder, the descriptors that it holds, and its rules."""

_PR_SET_CHILD_SUBREAPER = 36
_PAUSE = 0.01
_MOST_DESCRIPTORS = 253
_NOT_STARTED = 126
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)
"""By Python, and not by what it starts."""
_RULES, _END = b"r", b"e"
"""What a reaper tells its server: its command has rules; there are no more commands."""
_OWN = 3
"""The first descriptors of a message: the description of the command, CONTROL and TOLD. Then its streams follow."""


def main(descriptor: int) -> None:
    link = _socket.socket(fileno=descriptor)
    # A process group is told to end together with us. We stay, and see to it.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _ignore)
    reapers: set[int] = set()
    signal.signal(signal.SIGCHLD, lambda *_: _note_ends(reapers))
    adopt = _adopter()
    adopt()  # if a reaper is killed, its processes stay below us
    gc.disable()
    gc.freeze()
    while True:
        waiting, taken = os.pipe()
        if (child := _forked()) == 0:
            try:
                adopt()
                if descriptors := _message(link):
                    link.close()
                    _reap(descriptors, taken)
                else:
                    os.write(taken, _END)
            finally:
                os._exit(0)
        reapers.add(child)
        os.close(taken)
        word = os.read(waiting, 1)  # until it has its message, or has ended
        if word == _END:
            return
        if word == _RULES:
            import call_filter  # type: ignore[import-not-found] # noqa: F401, PLC0415 - once for all reapers
            import landlock  # type: ignore[import-not-found] # noqa: F401, PLC0415
        os.close(waiting)


def _message(link: _socket.socket) -> list[int]:
    """Descriptors; none: the server has to end, or those who could ask have ended."""
    _, received, _, _ = link.recvmsg(1, _socket.CMSG_SPACE(4 * _MOST_DESCRIPTORS), _socket.MSG_CMSG_CLOEXEC)
    numbers = b"".join(data for _, _, data in received)
    return [int.from_bytes(numbers[at : at + 4], sys.byteorder) for at in range(0, len(numbers), 4)]


def _forked() -> int:
    """A reaper for the next command: it waits before it is needed, so that the command does not wait for it."""
    while True:
        try:
            return os.fork()  # noqa: TID251 - a program of its own, with one thread
        except OSError:  # the system has no room for another process
            time.sleep(_PAUSE)


def _adopter() -> Callable[[], None]:
    arguments = (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        import _ctypes  # noqa: PLC0415 - what ctypes is made of, in a third of its time

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
        return lambda: _ctypes.call_function(prctl, arguments)
    except (ImportError, AttributeError):
        import ctypes  # noqa: PLC0415

        program = ctypes.CDLL(None)
        return lambda: program.prctl(*arguments)


def _ignore(number: int, frame: object) -> None:
    """A handler, because `SIG_IGN` would be inherited."""


def _note_ends(reapers: set[int]) -> None:
    ended = dict(descendants.reaped())
    reapers -= set(ended)
    if any(map(os.WIFSIGNALED, ended.values())):  # a command killed its reaper
        descendants.kill_all(frozenset(reapers))


def _reap(descriptors: list[int], taken: int) -> None:
    given, control, told = descriptors[:_OWN]
    with open(given, "rb") as file:  # noqa: PTH123 - pathlib takes long to import
        described: Described = marshal.loads(file.read())  # noqa: S302 - from our own process
    if described[-1] is not None:
        os.write(taken, _RULES)
    os.close(taken)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, _ignore)
    signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    os.setsid()
    if select.select([control], [], [], 0)[0]:  # the caller did not wait
        return
    os.write(told, b"%d " % os.getpid())
    try:
        child = _started(described, descriptors[_OWN:])
    except OSError as error:
        os.write(told, b"%d\n" % (error.errno or 0))
        return
    os.write(told, b"0\n")
    for descriptor in descriptors[_OWN : _OWN + 3]:  # only its own processes hold its streams
        os.close(descriptor)
    _watch(child, control, told, wake)
    descendants.kill_all()


def _started(described: Described, streams: list[int]) -> int:
    """The command as a child: its streams, and the descriptors that it holds, have the numbers that they had."""
    program, argv, env, cwd, held, rules = described
    moves = list(zip(_moved(streams, held), (0, 1, 2, *held), strict=True))
    os.chdir(cwd)
    if rules is not None:
        return _confined(program, argv, env, moves, rules)
    actions = [(os.POSIX_SPAWN_DUP2, *move) for move in moves]
    return os.posix_spawn(program, argv, env, file_actions=actions, setsigdef=_IGNORED)  # noqa: TID251 - as above


def _moved(descriptors: list[int], held: tuple[int, ...]) -> list[int]:
    """None of them has a number that another one gets."""
    if not held:
        return descriptors
    import fcntl  # noqa: PLC0415 - few commands hold a descriptor

    above = 1 + max(*held, *descriptors)
    return [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, above) for descriptor in descriptors]


def _confined(program: bytes, argv: list[bytes], env: Env, moves: list[tuple[int, int]], rules: list[bytes]) -> int:
    """The rules hold for the command, and not for the reaper, which has to end it."""
    child = os.fork()  # noqa: TID251 - as above
    if child:
        return child
    try:
        signal.set_wakeup_fd(-1)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_DFL)
        for move in moves:
            os.dup2(*move)
        import landlock  # noqa: PLC0415 - the server has it, from the second time on

        landlock.give_up_files([os.fsdecode(path) for path in rules])
        os.execve(program, argv, env)  # noqa: S606, TID251 - what the caller was asked to start
    except OSError as error:
        os.write(2, b"%s cannot be started: %s\n" % (argv[0], os.fsencode(str(error.strerror))))
    finally:
        os._exit(_NOT_STARTED)


def _watch(child: int, control: int, told: int, wake: int) -> None:
    """Returns when no process is left, or when all that are left have to be killed."""
    while True:
        for pid, status in descendants.reaped():
            if pid == child:
                code = os.waitstatus_to_exitcode(status)
                os.write(told, f"{code} {int(descendants.are_there())}\n".encode())
        if not descendants.are_there():
            return
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
        if control in ready and not os.read(control, 1):
            return
