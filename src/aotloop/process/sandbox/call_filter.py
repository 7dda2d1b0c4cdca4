"""A filter for system calls (seccomp): no path and no namespace guards what these calls reach.

Refused are: the person's keyrings; requests to a terminal that type, or select and paste, as if the person did; and new
limits for another process. All the rest is allowed. `reaper` imports this module without any other of ours.
"""

from __future__ import annotations

import errno
import os
import struct
import sys
from functools import cache

_LOAD, _AND, _IS_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_WITHOUT_X32 = 0xBFFFFFFF
_TYPE, _PASTE = 0x5412, 0x541C
"""TIOCSTI and TIOCLINUX."""
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2

_CALLS = {
    0xC000003E: ((248, 249, 250), 16, 302),  # x86_64, with x32
    0x40000003: ((286, 287, 288), 54, 340),  # i386
    0xC00000B7: ((217, 218, 219), 29, 261),  # aarch64
    0x40000028: ((309, 310, 311), 54, 369),  # arm
}
"""By architecture: the numbers of add_key, request_key and keyctl; of ioctl; and of prlimit64."""


@cache
def program() -> bytes:
    """For the kernel, and for `bwrap --seccomp`. Little-endian machines only; elsewhere it is empty."""
    if sys.byteorder != "little":
        return b""
    return b"".join(struct.pack("<HBBI", *step) for step in _steps())


def _steps() -> list[tuple[int, int, int, int]]:
    """A jump counts the steps that it skips: first if the values are equal, then if not."""
    steps = []
    for architecture, (keys, ioctl, limits) in _CALLS.items():
        block = [(_LOAD, 0, 0, _NUMBER), (_AND, 0, 0, _WITHOUT_X32)]
        for number in keys:
            block += [(_IS_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
        block += [(_IS_EQUAL, 0, 3, limits), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
        block += [(_IS_EQUAL, 6, 0, 0), (_RETURN, 0, 0, _REFUSE)]  # 0 is the process itself
        block += [(_IS_EQUAL, 0, 4, ioctl), (_LOAD, 0, 0, _SECOND_ARGUMENT)]
        block += [(_IS_EQUAL, 1, 0, _TYPE), (_IS_EQUAL, 0, 1, _PASTE), (_RETURN, 0, 0, _REFUSE)]
        block += [(_RETURN, 0, 0, _ALLOW)]
        steps += [(_LOAD, 0, 0, _ARCHITECTURE), (_IS_EQUAL, 0, len(block), architecture), *block]
    return [*steps, (_RETURN, 0, 0, _ALLOW)]


def refuse_calls() -> None:
    """For the calling thread and all that it starts, permanently. A kernel that cannot do it is told as OSError."""
    import ctypes  # noqa: PLC0415 - who only wants the program does not need it

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    steps = program()
    if not steps:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for words in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _FILTER, ctypes.byref(Program(len(steps) // 8, steps)), 0, 0),
    ):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
