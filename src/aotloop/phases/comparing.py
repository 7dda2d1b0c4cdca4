"""Whether the acceptance tests are what was agreed on: byte for byte, in the checkout and in what is committed.

Git is not asked whether files changed, as it can be told to overlook that; what they hold is compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aotloop.core.phases.model import PhaseLoop, Receipt
from aotloop.core.phases.working import receipt_of
from aotloop.errors import AotError
from aotloop.phases.ground import Ground
from aotloop.phases.protecting import folders_of

_MADE_BY_TESTS = "__pycache__"


def are_tests_untouched(ground: Ground, loop: PhaseLoop, receipt: Receipt | None = None) -> bool | None:
    """Since the receipt of spec_test: the one that is given, or the one on file. None: there is none."""
    agreed = receipt or receipt_of(loop, "spec_test")
    if agreed is None:
        return None
    try:
        return not any(_differences(ground, agreed))
    except (AotError, OSError):
        return False


def _differences(ground: Ground, agreed: Receipt) -> Iterator[str]:
    places = (agreed.artifact, *folders_of(agreed.artifact))
    commit = ground.commit(agreed.git_sha)
    blobs = _blobs(ground, commit, places) if commit is not None else {}
    if not blobs:
        yield agreed.artifact
    now = _blobs(ground, ground.head(), places)
    yield from (path for path in {*blobs, *now} if blobs.get(path) != now.get(path))
    for path, blob in blobs.items():
        file = ground.repository.top / path
        if file.is_symlink() or not file.is_file() or _bytes(ground, blob) != _as_committed(file):
            yield path
    for folder in folders_of(agreed.artifact):
        yield from _strangers(ground, folder, set(blobs), Path(agreed.artifact).suffix)


def _blobs(ground: Ground, commit: str, places: tuple[str, ...]) -> dict[str, str]:
    """By their paths in the repository."""
    wanted = [ground.in_repository(one) for one in places]
    listed = ground.repository.git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *wanted).fields
    split = (entry.partition("\t") for entry in listed)
    return {path: facts.split(" ")[2] for facts, _, path in split}


def _strangers(ground: Ground, folder: str, known: set[str], suffix: str) -> Iterator[str]:
    """Other code beside them, committed or not, could change what they do."""
    for file in (ground.root / folder).rglob(f"*{suffix}"):
        path = ground.in_repository(file.relative_to(ground.root).as_posix())
        if path not in known and _MADE_BY_TESTS not in file.parts:
            yield path


def _bytes(ground: Ground, blob: str) -> bytes:
    return ground.repository.git("cat-file", "blob", blob).out.replace(b"\r\n", b"\n")


def _as_committed(file: Path) -> bytes:
    """Line ends are the checkout's business."""
    return file.read_bytes().replace(b"\r\n", b"\n")
