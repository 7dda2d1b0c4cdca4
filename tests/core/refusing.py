"""An event that is refused says why, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from aotloop.core.model import Loop
from aotloop.errors import IllegalEvent
from tests.core.generated import deep_copy


@contextmanager
def refused(loop: Loop, why: str) -> Iterator[None]:
    before = deep_copy(loop)
    with pytest.raises(IllegalEvent, match=why):
        yield
    assert deep_copy(loop) == before
