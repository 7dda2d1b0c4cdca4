"""A user whom permissions bind, for tests of what cannot be looked at."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = 65534


@pytest.fixture
def as_ordinary_user() -> Iterator[Path]:
    """A directory of a user whom permissions bind, also where the tests run as root."""
    folder = Path(tempfile.mkdtemp()).resolve()
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        for path in folder.rglob("*"):
            path.chmod(0o700)
        shutil.rmtree(folder)
