"""The time of a run, beside the state file: a process that is killed leaves how long it ran, to about a second.

The state file is written when something happens, so that a person can edit it in between. An attempt may take an hour.
Without this file, the time of a run that is killed would not count, and `max_runtime` would not hold.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from aotloop.execution.journals.file_tail import last_bytes
from aotloop.execution.journals.journal import FOLDER

RUN_TIME = "run-time.json"
_MOST_BYTES = 1000
_MOST_SECONDS = 366 * 86400.0
"""A longer run is not believed."""


class _Noted(msgspec.Struct):
    run_id: str
    ran_seconds: float


class RunTime:
    def __init__(self, root: Path) -> None:
        self._path = root / FOLDER / RUN_TIME

    def note(self, run_id: str, ran_seconds: float) -> None:
        """Replaces the whole file. If that fails, some seconds are not counted, and the run continues."""
        draft = f"{self._path}.draft"
        content = msgspec.json.encode(_Noted(run_id, round(ran_seconds, 3)))
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(draft, flags, 0o644)
            try:
                os.write(descriptor, content)
            finally:
                os.close(descriptor)
            os.replace(draft, self._path)  # noqa: PTH105 - as text, like the draft

    def missing(self, run_id: str, ran_seconds: float) -> float:
        """Seconds that the loop with this id ran, and that its state file does not know."""
        data, _ = last_bytes(self._path, _MOST_BYTES)
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            noted = msgspec.json.decode(data, type=_Noted)
            lost = noted.ran_seconds - ran_seconds
            if noted.run_id == run_id and 0 < lost < _MOST_SECONDS:
                return round(lost, 3)
        return 0.0
