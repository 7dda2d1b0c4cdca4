"""Our git in the person's checkout waits for no pipe that a check made there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from aotloop.git import pipes
from aotloop.git.checkout.fast_forward import Landed, Step, landing
from tests.git.checkouts import head, opened, save, sh, write


@pytest.mark.parametrize("name", sorted(pipes.NAMES))
@pytest.mark.parametrize("folder", [".", "src", "new", "deep/er"])
def test_git_waits_for_no_pipe(checkout: Path, monkeypatch: pytest.MonkeyPatch, name: str, folder: str) -> None:
    """Seen: a run waited for half an hour, and so did the next."""
    monkeypatch.setattr(pipes, "SILENCE", 0.05)
    base = head(checkout)
    write(checkout, {f"{folder}/landed": "x", "src/c.txt": "changed"})
    work = save(checkout)
    sh(checkout, "reset", "--quiet", "--hard", base)
    place = checkout / folder
    place.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place / name)
    os.utime(checkout / "src" / "c.txt")
    repository = opened(checkout)
    assert "src/c.txt" not in repository.dirty()
    with landing(repository) as lander:
        assert lander.go(Step(base, work, "refs/heads/main")) == Landed(work)
    assert (checkout / folder / "landed").read_text() == "x"
