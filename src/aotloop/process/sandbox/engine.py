"""The engine that is in force: the strongest that works here, found by a real trial, and what it does not cover."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from aotloop.errors import Unavailable
from aotloop.process.own_programs import own_program
from aotloop.process.sandbox import bubblewrap, srt, thread_rules
from aotloop.process.sandbox.fence import Confinement, Policy, is_at_or_in

Engine = Literal["bwrap", "srt", "landlock", "off"]
_PATIENCE = 10.0

_GAPS: dict[Engine, tuple[str, ...]] = {
    "bwrap": ("the network is open", "files outside your home's secrets can be read"),
    "srt": ("files outside your home's secrets can be read", "named hosts get everything that agents can read"),
    "landlock": (
        "the network is open",
        "files outside your home's secrets can be read, and all names",
        "temporary folders are shared",
        "rights and times of files can be changed (chmod, utime)",
        "sockets of services (containers, buses, agents of keys) can be reached",
    ),
    "off": ("nothing is confined: changes of the checkout are only detected afterwards",),
}


class InForce(msgspec.Struct, frozen=True, kw_only=True):
    engine: Engine
    program: str = ""
    reason: str = ""
    """Why no stronger engine is in force; empty: there is nothing to say."""
    gaps: tuple[str, ...] = ()
    """What it does not cover, in words."""

    @property
    def keeps_out(self) -> bool:
        """Whether the checkout cannot be changed."""
        return self.engine != "off"

    def words(self) -> str:
        """One line for a person."""
        said = f"sandbox: {self.engine}" + (f" ({self.reason})" if self.reason else "")
        return f"{said}; not covered: {'; '.join(self.gaps)}" if self.gaps else said


def is_possible() -> bool:
    """Whether this machine can confine processes."""
    return thread_rules.is_there() or why_not_bwrap() is None


def in_force(policy: Policy = Policy()) -> InForce:  # noqa: B008 - it cannot change
    """Raises Unavailable if what the person asks for cannot be done here: then nothing is started with less."""
    if policy.engine == "off":
        return InForce(engine="off", gaps=_GAPS["off"])
    if isinstance(policy.network, tuple) or policy.engine == "srt":
        return _srt(policy)
    reason = why_not_bwrap()
    if reason is None and policy.engine in {"auto", "bwrap"}:
        gaps = _GAPS["bwrap"][1:] if policy.network == "none" else _GAPS["bwrap"]
        return InForce(engine="bwrap", program=own_program(bubblewrap.PROGRAM) or "", gaps=gaps)
    if policy.engine == "bwrap":
        raise Unavailable(f'sandbox = "bwrap" is not possible here: {reason}', hint="See `aot doctor`.")
    if policy.network == "none":
        raise Unavailable(
            f'network = "none" needs bubblewrap: {reason or "your settings choose Landlock"}',
            hint='Install bubblewrap, or remove `network`; `sandbox` must be "auto" or "bwrap".',
        )
    if thread_rules.is_there():
        return InForce(engine="landlock", reason=reason or "", gaps=_landlock_gaps())
    if policy.engine == "landlock":
        raise Unavailable('sandbox = "landlock" is not possible here: the kernel has none', hint="See `aot doctor`.")
    return InForce(engine="off", reason=f"{reason}; the kernel has no Landlock", gaps=_GAPS["off"])


def lets_make_in(confinement: Confinement, folder: str) -> bool:
    """Whether new files can be made in this folder of the disk, and by no one else behind another fence."""
    return any(is_at_or_in(os.path.realpath(folder), os.path.realpath(place)) for place in confinement.open)


def _srt(policy: Policy) -> InForce:
    """A list of hosts is a promise: no other engine is taken in its place."""
    missing = [name for name in (srt.PROGRAM, *srt.NEEDS) if own_program(name) is None]
    asked = 'sandbox = "srt"' if policy.engine == "srt" else "a list of hosts in `network`"
    if policy.engine not in {"auto", "srt"}:
        raise Unavailable(f"{asked} needs srt, but your settings say sandbox = {policy.engine!r}")
    if missing:
        raise Unavailable(f"{asked} needs {', '.join(missing)}, not installed here", hint=f"Install: {srt.INSTALL}.")
    if (reason := why_not_bwrap()) is not None:
        raise Unavailable(f"{asked} is not possible here: {reason}", hint="See `aot doctor`.")
    gaps = _GAPS["srt"] if policy.network != "all" else (*_GAPS["srt"][:1], "no host is named: the network is closed")
    return InForce(engine="srt", program=own_program(srt.PROGRAM) or "", gaps=gaps)


def _landlock_gaps() -> tuple[str, ...]:
    old = () if thread_rules.covers_truncation() else ("files can be cut short (truncate: Linux 6.2 closes it)",)
    scope = () if thread_rules.has_scopes() else ("processes outside can be signalled (Linux 6.12 closes it)",)
    return (*_GAPS["landlock"], *old, *scope)


@cache
def why_not_bwrap() -> str | None:
    """None: it works here. Tried once, with all its namespaces: many settings and containers forbid some of them."""
    if sys.platform != "linux":
        return "bubblewrap is for Linux"
    program = own_program(bubblewrap.PROGRAM)
    if program is None:
        return "bubblewrap is not installed"
    from aotloop.process import blocking_run  # noqa: PLC0415 - it starts processes, and so imports this package
    from aotloop.process.output import Whole  # noqa: PLC0415
    from aotloop.process.spec import Ending, Limits, ProcessSpec  # noqa: PLC0415

    fence = Confinement(closed=(), policy=Policy(network="none"))
    trial = bubblewrap.arguments(program, fence, Path("/"), {}, ("true",), sockets=())
    spec = ProcessSpec(
        argv=trial,
        env={"PATH": os.environ.get("PATH", os.defpath)},
        scoped=True,
        limits=Limits(total=_PATIENCE),
        ending=Ending(reach="process", clears=False),
    )
    said = Whole()
    try:
        completed = blocking_run.run(spec, err=said)
    except OSError as error:
        return f"bubblewrap cannot be started: {error.strerror}"
    if completed.status == 0:
        return None
    words = said.text().strip().splitlines()
    return f"bubblewrap does not work here: {words[-1] if words else 'it did not end'}"
