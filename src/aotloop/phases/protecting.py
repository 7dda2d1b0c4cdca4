"""What nobody changes once it was agreed on: the acceptance tests, and what else lies in a folder of theirs alone."""

from __future__ import annotations

from pathlib import PurePosixPath

from aotloop.core.phases.model import PhaseLoop
from aotloop.core.phases.working import receipt_of

FOLDER = "acceptance"
"""A folder of this name is for them alone."""


def agreed_tests(loop: PhaseLoop) -> str | None:
    """The file, once its receipt was accepted."""
    receipt = receipt_of(loop, "spec_test")
    return receipt.artifact if receipt is not None else None


def protected(loop: PhaseLoop) -> tuple[str, ...]:
    """Globs, from the project's root."""
    file = agreed_tests(loop)
    return () if file is None else (file, *(f"{one}/**" for one in folders_of(file)))


def folders_of(file: str) -> tuple[str, ...]:
    """The topmost folder of that name which the file lies in, if it does."""
    parents = PurePosixPath(file).parents
    return tuple(str(one) for one in reversed(parents) if one.name == FOLDER)[:1]
