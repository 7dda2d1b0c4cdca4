"""Settings of a client, in a JSON file of the person: only this module reads and writes them.

A file that cannot be understood is never written. It is written whole or not at all, and through a link.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from aotloop.errors import Unavailable


def read_settings(file: Path) -> dict[str, Any]:
    """An absent file is an empty object. Raises Unavailable."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Unavailable(f"{file} cannot be read: {error.strerror}") from error
    try:
        return msgspec.json.decode(content, type=dict[str, Any]) if content.strip() else {}
    except msgspec.MsgspecError as error:
        raise Unavailable(f"{file} is not a JSON object: {error}", hint="Correct it; nothing was changed.") from error


def write_settings(file: Path, settings: dict[str, Any]) -> None:
    """Writes through a link, because many people link this file. It writes everything or nothing."""
    real = Path(os.path.realpath(file))
    draft = real.with_name(f"{real.name}.{os.getpid()}.tmp")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(msgspec.json.format(msgspec.json.encode(settings), indent=2) + b"\n")
        if real.exists():
            draft.chmod(real.stat().st_mode & 0o777)
        draft.replace(real)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise Unavailable(f"{file} cannot be written: {error.strerror}") from error
