"""The memory allocator of this process. glibc keeps freed memory of large texts; a long run must not pay for its start.

By itself, glibc raises the size from which memory goes back to the system when it is freed, up to 32 MiB; and each
thread gets an arena of its own. A run that reads a large file a few times keeps twice the memory that it needs.
"""

from __future__ import annotations

import ctypes

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
"""Names of malloc.h."""
_LARGE = 128 * 1024
_ARENAS = 2


def return_large_blocks() -> None:
    """From now on, large blocks go back to the system when they are freed. Other allocators do so by themselves."""
    try:
        tune = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return
    tune(_M_MMAP_THRESHOLD, _LARGE)
    tune(_M_ARENA_MAX, _ARENAS)
