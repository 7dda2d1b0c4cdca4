"""A cable that can be cut: a network namespace for one worker, and a link between it and this machine.

Nothing else can be reached over it: at its end here, a relay passes on what is for the server.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count

from tests.remote.tls_proxy import Delay, relay

_NUMBERS = count(os.getpid() * 4 % 16_000, 4)


@dataclass(frozen=True)
class Cable:
    space: str
    link: str
    """Its end here."""
    address: str
    """Of the server, as it is seen from the other end."""
    delay: Delay = field(default_factory=Delay)
    """Made by the relay: not every kernel has one for links."""

    @property
    def inside(self) -> tuple[str, ...]:
        """Words before a command that runs at the other end."""
        return (_program(), "netns", "exec", self.space)

    def cut(self) -> None:
        """Nothing passes, and neither end is told."""
        _ip("link", "set", self.link, "down")

    def mend(self) -> None:
        _ip("link", "set", self.link, "up")


def refusal() -> str | None:
    """Why there can be none here."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "a cable needs root, and the program ip"
    name = f"aot-{os.getpid()}-try"
    done = subprocess.run((_program(), "netns", "add", name), capture_output=True, check=False)
    if done.returncode:
        return "no network namespace can be made here"
    _ip("netns", "delete", name)
    return None


@contextmanager
def a_cable(port: int) -> Iterator[Cable]:
    """To the server with this port."""
    number = next(_NUMBERS)
    space, link, far = (f"aot{number}{end}" for end in ("n", "a", "b"))
    net = f"198.18.{number // 256 % 64}.{number % 256}"
    near, other = (f"{net.rpartition('.')[0]}.{number % 256 + one}" for one in (1, 2))
    with ExitStack() as stack:
        _ip("netns", "add", space)
        stack.callback(_ip, "netns", "delete", space)
        _ip("link", "add", link, "type", "veth", "peer", "name", far, "netns", space)
        _ip("address", "add", f"{near}/30", "dev", link)
        _ip("link", "set", link, "up")
        _ip("-n", space, "address", "add", f"{other}/30", "dev", far)
        _ip("-n", space, "link", "set", far, "up")
        _ip("-n", space, "link", "set", "lo", "up")
        delay = Delay()
        own = stack.enter_context(relay(port, near, delay=delay))
        yield Cable(space, link, f"{near}:{own}", delay)


def _program() -> str:
    found = shutil.which("ip")
    assert found is not None
    return found


def _ip(*words: str) -> None:
    subprocess.run((_program(), *words), capture_output=True, check=True)
