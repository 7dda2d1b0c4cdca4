"""Only this module asks clients for their versions: time and output are bounded, and no process stays behind.

A client runs in a temporary folder, and sees no more of our environment than any agent does. A client that hangs,
prints too much or fails is reported as such; the caller goes on.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.attempt.agent_process import LINGER, not_started
from aotloop.agents.client.detection import Asking, Presence
from aotloop.errors import Unavailable
from aotloop.process import blocking_run
from aotloop.process.cancellation import Cancellation
from aotloop.process.environment import ATTEMPT_MARK, scrub
from aotloop.process.exit_status import status_in_words
from aotloop.process.output import Whole
from aotloop.process.own_programs import is_own
from aotloop.process.spec import Ending, Limits, ProcessSpec
from aotloop.text.shorten import last_line, one_line

PATIENCE = 10.0
_MOST_BYTES = 64 * 1024
_LONGEST = 60
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,9}(?:\.\d{1,9})+[\w.+-]*)")


def with_version(presence: Presence, patience: float = PATIENCE) -> Presence:
    """The same presence, with the version that the client reports, or with the reason why there is none."""
    asking = presence.asking
    if asking is None:
        return presence
    if not is_own(asking.argv[0]):
        doubt = f"is not asked for its version, because agents can change {asking.argv[0]}"
        return replace(presence, doubt=doubt, remedy="It may work. An installation outside of projects is safer.")
    try:
        answer = _ask(asking, patience)
    except Unavailable as error:
        return replace(presence, problem=error.message, remedy=error.hint)
    found = _VERSION.search(answer.output) if answer.trouble is None else None
    if found is None:
        trouble = answer.trouble or f"told no version, but {one_line(answer.output, _LONGEST) or 'nothing'!r}"
        remedy = f"See what `{' '.join(asking.argv)}` does; a new installation may help."
        return replace(presence, problem=f"{Path(asking.argv[0]).name} {trouble}", remedy=remedy)
    version = one_line(found[1], _LONGEST)
    return replace(presence, version=version, doubt=age(version, asking.tested))


def all_with_versions(presences: Mapping[str, Presence], patience: float = PATIENCE) -> dict[str, Presence]:
    """Asks all clients at the same time."""
    if not presences:
        return {}
    with ThreadPoolExecutor(len(presences)) as pool:
        looked = pool.map(lambda presence: with_version(presence, patience), presences.values())
        return dict(zip(presences, looked, strict=True))


def age(version: str, tested: tuple[int, ...]) -> str | None:
    """What to think of a version: None if there is no reason to worry."""
    numbers = tuple(int(digits) for digits in re.findall(r"[0-9]{1,9}", version)[: len(tested)])
    if not numbers or not tested:
        return None
    against = ".".join(map(str, tested))
    if numbers < tested:
        return f"{version} is older than what was tested ({against})"
    if numbers[0] > tested[0]:
        return f"{version} is much newer than what was tested ({against})"
    return None


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    output: str
    trouble: str | None = None


class _Bounded(Whole):
    """Ends a client that prints more than any version."""

    def __init__(self, cancellation: Cancellation) -> None:
        super().__init__()
        self._cancellation = cancellation
        self._left = _MOST_BYTES

    def add(self, chunk: bytes) -> None:
        self._left -= len(chunk)
        if self._left > 0:
            super().add(chunk)
        else:
            self._cancellation.cancel()


def _ask(asking: Asking, patience: float) -> _Told:
    """Raises Unavailable."""
    enough = Cancellation()
    output, errors = _Bounded(enough), _Bounded(enough)
    with tempfile.TemporaryDirectory(prefix="aot-", ignore_cleanup_errors=True) as folder:
        spec = ProcessSpec(
            argv=asking.argv,
            cwd=Path(folder),
            env={**scrub(os.environ, allow=()), **dict.fromkeys(asking.folders, folder)},
            mark=ATTEMPT_MARK,
            limits=Limits(total=patience),
            ending=Ending(grace=0.0, linger=LINGER),
        )
        try:
            completed = blocking_run.run(spec, out=output, err=errors, cancellation=enough)
        except (OSError, ValueError) as error:
            raise not_started(error, spec) from error
    if enough.cancelled:
        return _Told(output="", trouble="printed more than a version")
    if completed.status is None:
        return _Told(output="", trouble=f"did not answer within {patience:g} s")
    if completed.status != 0:
        line = last_line(errors.text().strip() or output.text().strip(), _LONGEST)
        ending = status_in_words(completed.status)
        return _Told(output="", trouble=f"failed ({ending}){f': {line}' if line else ''}")
    return _Told(output=output.text().strip() or errors.text().strip())
