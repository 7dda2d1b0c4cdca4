"""Events as descriptors that become readable when they happen, so that one wait serves all of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from aotloop.verify.cancellation import Cancellation


@contextlib.contextmanager
def woken_by(cancellation: Cancellation) -> Iterator[int]:
    """A descriptor that becomes readable when all is cancelled."""
    woken, wake = os.pipe()
    try:
        with cancellation.calling(lambda: _poke(wake)):
            yield woken
    finally:
        os.close(woken)
        os.close(wake)


def _poke(descriptor: int) -> None:
    os.write(descriptor, b"!")


@contextlib.contextmanager
def end_of(pid: int) -> Iterator[int | None]:
    """A descriptor that becomes readable when our child ends; None where there is no such thing (macOS)."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
