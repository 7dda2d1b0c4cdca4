"""Names of hosts: only this module decides whether one is this machine."""

from __future__ import annotations

import ipaddress


def is_loopback(host: str) -> bool:
    """`host`: without a port. A name other than `localhost` is never looked up, and counts as another machine."""
    name = host.strip("[]")
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
