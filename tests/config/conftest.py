"""Tests of settings see no setting of the test suite itself."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_engine(own_home: object, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - after it
    monkeypatch.delenv("AOT_SANDBOX", raising=False)
