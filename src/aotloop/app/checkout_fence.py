"""The fence for commands that run in the checkout on behalf of a person or a session, as configured there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aotloop.errors import AotError
from aotloop.process.sandbox import Policy, is_possible
from aotloop.statefile.locate import project_root

if TYPE_CHECKING:
    from aotloop.fence.check_fence import Fence


@contextmanager
def fence_in_checkout(state_file: str, variables: Mapping[str, str] | None = None) -> Iterator[Fence]:
    """`state_file`: of a loop, or of a feature."""
    from aotloop.fence.check_fence import checkout_confinement, fence_around  # noqa: PLC0415 - scripts start faster

    root = Path(project_root(state_file))
    confinement = checkout_confinement(root, state_file, fence_of(root)) if is_possible() else None
    with fence_around(confinement, variables) as fence:
        yield fence


def fence_of(root: Path) -> Policy | None:
    """The person's decision about fences; None: no fence."""
    from aotloop.config.sources import load  # noqa: PLC0415 - as above

    try:
        return load(root).fence
    except AotError:
        return Policy()
