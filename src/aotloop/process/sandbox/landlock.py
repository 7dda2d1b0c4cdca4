"""Landlock: a Linux process permanently gives up its own rights. Only this module calls the Landlock system calls.

The process gives up the right to change files, and to read them, except below certain paths; and from Linux 6.12 on the
right to reach abstract sockets and processes outside. Listing, running and the network stay allowed. This holds for
the calling thread and for everything that it starts from then on. It does not hold for other threads of this process.
`reaper` imports this module without any other of ours.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from functools import cache

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP = 38, 24
_KEPT_RIGHTS, _MOST_RIGHTS = frozenset({0, 3}), 64
"""CAP_CHOWN and CAP_FOWNER."""

_WRITE_FILE, _READ_FILE, _REFER, _TRUNCATE = 1 << 1, 1 << 2, 1 << 13, 1 << 14
_MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))
_MAKE_DEVICES = 1 << 6 | 1 << 11
"""A device that the root user makes in an open folder would be the disk."""
_LEAST, _WITH_TRUNCATION, _WITH_SCOPES = 2, 3, 6
"""The first versions that allow moving files between folders (Linux 5.19), cover truncation (6.2), and have scopes
(6.12).
"""
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2


class _Handled(ctypes.Structure):
    _fields_ = (("access", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("access", ctypes.c_uint64), ("folder", ctypes.c_int32))


def is_there() -> bool:
    """Whether this machine supports Landlock."""
    return sys.platform == "linux" and _version() >= _LEAST


def give_up_files(except_below: Iterable[str]) -> None:
    """For the calling thread, permanently. Raises OSError, and then nothing is given up. Links are not followed.

    `except_below`: see `permitted_paths`. What can be changed can be read.
    """
    every = _READ_FILE | _WRITE_FILE | _MAKE_AND_REMOVE | _REFER | (_TRUNCATE if covers_truncation() else 0)
    rules = [(path[1:], every & ~_MAKE_DEVICES if path[0] == "w" else _READ_FILE) for path in except_below]
    _give_up_rights_of_root()
    _restrict(every, _ABSTRACT_SOCKETS | _SIGNALS, rules)
    _refuse_calls()


def _refuse_calls() -> None:
    if __package__:
        from aotloop.process.sandbox import call_filter  # noqa: PLC0415 - beside this file, see above
    else:
        import call_filter  # type: ignore[import-not-found,no-redef] # noqa: PLC0415
    call_filter.refuse_calls()


def _give_up_rights_of_root() -> None:
    """As bubblewrap does: only what is needed to unpack archives is kept. It holds from the next program on."""
    if os.geteuid() == 0:
        for right in range(_MOST_RIGHTS):
            if right not in _KEPT_RIGHTS:
                _libc().prctl(_PR_CAPBSET_DROP, right, 0, 0, 0)


def give_up_sockets() -> None:
    """Abstract sockets of processes outside cannot be reached any more. Older kernels cannot do this: no effect."""
    if has_scopes():
        _restrict(0, _ABSTRACT_SOCKETS, ())


def covers_truncation() -> bool:
    return _version() >= _WITH_TRUNCATION


def has_scopes() -> bool:
    """Whether processes outside can be kept from signals and from connections to their abstract sockets."""
    return sys.platform == "linux" and _version() >= _WITH_SCOPES


def _restrict(every: int, scopes: int, except_below: Iterable[tuple[str, int]]) -> None:
    handled = _Handled(every, 0, scopes if has_scopes() else 0)
    size = ctypes.sizeof(handled) if has_scopes() else ctypes.sizeof(ctypes.c_uint64)  # an old kernel knows one field
    rules = _called(_CREATE, ctypes.byref(handled), size, 0)
    try:
        for path, rights in except_below:
            _permit(rules, path, rights)
        _checked(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _called(_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _permit(rules: int, path: str, rights: int) -> None:
    try:
        found = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # removed meanwhile, or not accessible for us
        return
    try:
        is_folder = stat.S_ISDIR(os.fstat(found).st_mode)
        beneath = _Beneath(rights if is_folder else rights & (_READ_FILE | _WRITE_FILE | _TRUNCATE), found)
        _called(_ADD, rules, _PATH_BENEATH, ctypes.byref(beneath), 0)
    finally:
        os.close(found)


@cache
def _version() -> int:
    return max(0, int(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), _VERSION_FLAG)))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _called(number: int, *arguments: object) -> int:
    return _checked(_libc().syscall(number, *arguments))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
