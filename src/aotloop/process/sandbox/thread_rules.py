"""Rules of the kernel for one thread: what the thread starts is under them, other threads of this process are not.

The only way to `landlock` for our own process. It loads ctypes, so it is imported only where it is needed.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from aotloop.errors import Unavailable
from aotloop.process.sandbox.fence import Confinement
from aotloop.process.sandbox.permitted_paths import permitted

T = TypeVar("T")


def is_there() -> bool:
    from aotloop.process.sandbox import landlock  # noqa: PLC0415 - see above

    return landlock.is_there()


def covers_truncation() -> bool:
    from aotloop.process.sandbox import landlock  # noqa: PLC0415 - see above

    return landlock.covers_truncation()


def has_scopes() -> bool:
    from aotloop.process.sandbox import landlock  # noqa: PLC0415 - see above

    return landlock.has_scopes()


def without_sockets(start: Callable[[], T]) -> T:
    """The result of `start`, in this thread, which cannot reach abstract sockets outside from now on."""
    from aotloop.process.sandbox import landlock  # noqa: PLC0415 - see above

    _refuse_if_impossible(landlock.give_up_sockets)
    return start()


def confined(confinement: Confinement | None, start: Callable[[], T], cwd: Path | None = None) -> T:
    """The result of `start`. It is called under the rules of Landlock, so they hold for all processes that it starts.

    Raises Unavailable, and the errors of `start`.
    """
    if confinement is None or not is_there():
        return start()
    from aotloop.process.sandbox import landlock  # noqa: PLC0415 - see above

    paths = list(permitted(confinement, os.environ, cwd))

    def apart() -> T:
        _refuse_if_impossible(lambda: landlock.give_up_files(paths))
        return start()

    return in_own_thread(apart)


def _refuse_if_impossible(give_up: Callable[[], None]) -> None:
    try:
        give_up()
    except OSError as error:
        raise Unavailable(
            f"the kernel does not confine an agent: {error.strerror}",
            hint='sandbox = "off" in your own settings switches this off.',
        ) from error


def in_own_thread(start: Callable[[], T], until: Callable[[T], object] | None = None) -> T:
    """The result of `start`, called in a thread of its own, which then lives `until` this returns.

    A process that dies with its parent dies with the *thread* that started it.
    """
    outcome: list[T] = []
    fault: list[BaseException] = []
    is_started = threading.Event()

    def apart() -> None:
        try:
            outcome.append(start())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            fault.append(error)
        is_started.set()
        if until is not None and outcome:
            until(outcome[0])

    threading.Thread(target=apart, name="aot-confined", daemon=True).start()
    is_started.wait()
    if fault:
        raise fault[0]
    return outcome[0]
