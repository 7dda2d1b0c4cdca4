"""Only this module asks clients for their versions: bounded in time and in what is read, and nothing is left running.

A client is asked in a folder that is thrown away, and sees no more of our environment than any agent does. One that
hangs, chatters or fails is told as such; whoever asks goes on.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.endings import status_in_words
from aotloop.agents.environment import allowed
from aotloop.agents.launching import Launch, start
from aotloop.agents.presence import Asking, Presence
from aotloop.agents.wording import last_line, one_line
from aotloop.errors import Unavailable
from aotloop.survivors import Tree

PATIENCE = 10.0
_MOST_BYTES = 64 * 1024
_TICK = 0.05
_LONGEST = 60
_VERSION = re.compile(r"(?<![\w.])v?(\d{1,9}(?:\.\d{1,9})+[\w.+-]*)")


def with_version(presence: Presence, patience: float = PATIENCE) -> Presence:
    """The same, with the version that the client tells, or with why there is none."""
    asking = presence.asking
    if asking is None:
        return presence
    try:
        told = _ask(asking, patience)
    except Unavailable as error:
        return replace(presence, problem=error.message, remedy=error.hint)
    found = _VERSION.search(told.output) if told.trouble is None else None
    if found is None:
        trouble = told.trouble or f"told no version, but {one_line(told.output, _LONGEST) or 'nothing'!r}"
        remedy = f"See what `{' '.join(asking.argv)}` does; installing it anew may help."
        return replace(presence, problem=f"{Path(asking.argv[0]).name} {trouble}", remedy=remedy)
    version = one_line(found[1], _LONGEST)
    return replace(presence, version=version, doubt=age(version, asking.tested))


def all_with_versions(presences: Mapping[str, Presence], patience: float = PATIENCE) -> dict[str, Presence]:
    """At the same time."""
    if not presences:
        return {}
    with ThreadPoolExecutor(len(presences)) as pool:
        looked = pool.map(lambda one: with_version(one, patience), presences.values())
        return dict(zip(presences, looked, strict=True))


def age(version: str, tested: tuple[int, ...]) -> str | None:
    """What to think of a version: None if there is nothing to fear."""
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


def _ask(asking: Asking, patience: float) -> _Told:
    """Raises Unavailable."""
    mark, began = uuid.uuid4().hex, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="aot-", ignore_cleanup_errors=True) as folder:
        env = {**allowed(os.environ), **dict.fromkeys(asking.folders, folder)}
        launch = Launch(argv=asking.argv, cwd=Path(folder), env=env, transcript=Path(os.devnull))
        process = start(launch, mark)
        try:
            output, errors = _heard(process, began + patience)
            status = process.poll()
        finally:
            _clear_away(process, mark, began)
    if status is None:
        is_chatty = len(output) + len(errors) >= _MOST_BYTES
        why = "printed more than a version" if is_chatty else f"did not answer within {patience:g} s"
        return _Told(output="", trouble=why)
    if status != 0:
        said = last_line(_text(errors) or _text(output), _LONGEST)
        return _Told(output="", trouble=f"failed ({status_in_words(status)}){f': {said}' if said else ''}")
    return _Told(output=_text(output) or _text(errors))


def _heard(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes]:
    """What it printed to both until it ended, fell silent or said enough; whoever else holds the pipes is not heard."""
    heard = {"stdout": b"", "stderr": b""}
    with selectors.DefaultSelector() as waiting:
        for name, pipe in (("stdout", process.stdout), ("stderr", process.stderr)):
            if pipe is not None:
                waiting.register(pipe, selectors.EVENT_READ, name)
        while time.monotonic() < deadline and sum(map(len, heard.values())) < _MOST_BYTES:
            has_ended = process.poll() is not None  # asked first: what it printed before is there by now
            ready = waiting.select(0 if has_ended else _TICK) if waiting.get_map() else []
            for key, _ in ready:
                part = os.read(key.fd, 4096)
                heard[key.data] += part
                if not part:
                    waiting.unregister(key.fileobj)
            if not ready:
                if has_ended:
                    break
                if not waiting.get_map():
                    time.sleep(_TICK)
    return heard["stdout"], heard["stderr"]


def _clear_away(process: subprocess.Popen[bytes], mark: str, since: float) -> None:
    tree = Tree(mark, process, since)
    if tree.anything_left():
        tree.kill(0)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1)
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace").strip()
