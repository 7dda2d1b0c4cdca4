"""What `aot doctor` finds, by its name; and programs for it to find."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.cli.terminal import aot


def found(*words: str) -> dict[str, dict[str, Any]]:
    return {one["what"]: one for one in aot("doctor", *words, "--json").json["findings"]}


def a_client(folder: Path, name: str, version: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho {version}\n")
    (folder / name).chmod(0o755)
    return folder / name
