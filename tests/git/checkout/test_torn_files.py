"""Which files of a landing that was killed are torn, and which are the person's."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from aotloop.git.checkout.torn_files import mend
from aotloop.git.command import Place
from aotloop.git.commits.integration import Prepared
from aotloop.git.repository import Repository
from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import head, prepared_from, write

LONG = "new line\n" * 5000


@pytest.fixture
def prepared(pool: Pool, repository: Repository) -> Prepared:
    return prepared_from(pool, repository, {"a.txt": LONG, "b.txt": "b2\n"})


def place_of(repository: Repository) -> Place:
    copy = repository.git_dir / "aot-landing-index"
    copy.write_bytes((repository.git_dir / "index").read_bytes())
    return replace(repository.place, variables=(*repository.place.variables, ("GIT_INDEX_FILE", str(copy))))


@pytest.mark.parametrize(
    ("left", "mended"),
    [
        (LONG[:4097], LONG),
        ("", LONG),
        ("a\n", "a\n"),
        ("the person's\n", "the person's\n"),
        (LONG + "more", LONG + "more"),
    ],
)
def test_a_file_that_breaks_off_is_written_to_its_end(
    repository: Repository, checkout: Path, prepared: Prepared, left: str, mended: str
) -> None:
    write(checkout, {"a.txt": left})
    mend(repository, place_of(repository), prepared.head, prepared.commit)
    assert (checkout / "a.txt").read_text() == mended
    assert (checkout / "b.txt").read_text() == "b\n"
    assert head(checkout) == prepared.head


def test_a_missing_file_is_written(repository: Repository, checkout: Path, prepared: Prepared) -> None:
    (checkout / "a.txt").unlink()
    (checkout / "src" / "c.txt").unlink()
    mend(repository, place_of(repository), prepared.head, prepared.commit)
    assert (checkout / "a.txt").read_text() == LONG
    assert not (checkout / "src" / "c.txt").exists()
