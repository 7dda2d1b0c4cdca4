"""Settings as people write them, and the answer they get when they are wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from aotloop.config.schema import Config
from aotloop.config.sources import load
from aotloop.errors import AotError


def project_says(root: Path, settings: str) -> Path:
    path = root / "aot.toml"
    path.write_text(settings, encoding="utf-8")
    return path


def user_says(home: Path, settings: str) -> Path:
    path = home / ".config" / "aotloop" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(settings, encoding="utf-8")
    return path


def loaded(root: Path, settings: str) -> Config:
    project_says(root, settings)
    return load(root)


def refusal(root: Path, **where: Mapping[str, Any]) -> AotError:
    with pytest.raises(AotError) as caught:
        load(root, **where)
    return caught.value


def complaint(root: Path, settings: str) -> tuple[str, str | None]:
    """About a file of the project: key and mistake, and the hint."""
    path = project_says(root, settings)
    error = refusal(root)
    assert error.message.startswith(f"{path}: ")
    return error.message.removeprefix(f"{path}: "), error.hint
