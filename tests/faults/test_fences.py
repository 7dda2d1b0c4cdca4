"""The campaign against fences notices what gets through: without a fence, its attacks succeed."""

from __future__ import annotations

from pathlib import Path

import pytest
from faults.fences import _cases, _escape

from tests.process.sandbox.worlds import a_world, engines


@pytest.mark.parametrize(("kind", "command"), [("write", "echo x > ../checkout/file"), ("read", "cat ~/.ssh/file")])
def test_without_a_fence_an_attack_succeeds_and_is_seen(tmp_path: Path, kind: str, command: str) -> None:
    assert _escape(a_world(tmp_path), "off", kind, command)


def test_every_engine_that_works_here_is_attacked() -> None:
    assert {engine for engine, _, _ in _cases()} == set(engines())
