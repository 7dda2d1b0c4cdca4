"""Whatever is killed while the person's checkout moves: the next run finishes it, and no edit is lost."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from aotloop.git.checkout.fast_forward import LOCK, Blocked, Landed, Landing, Moved, Step, landing
from aotloop.git.commits.integration import Prepared, land, prepare
from aotloop.git.repository import Repository
from aotloop.git.worktrees.pool import Pool
from tests.git.checkouts import MAIN, done_by, head, make_checkout, opened, prepared_from, sh, write
from tests.patience import PATIENCE, give_way, shell_until_there, until

LANDER = """
import sys
from pathlib import Path
from aotloop.git.commits.integration import Prepared, land
from aotloop.git.repository import find_repository
repository = find_repository(Path(sys.argv[1]))
print(land(repository, Prepared(sys.argv[2], sys.argv[3], True), "refs/heads/main"))
"""

MOMENTS = {
    "before git starts": "kill -9 $PPID; exit",
    "half-way through the files": "printf 'x\\n' > a.txt; rm b.txt; kill -9 $PPID; exit",
    "within a file": "printf 'x\\n' > a.txt; rm b.txt; rm src/c.txt; mkdir new; : > new/file; kill -9 $PPID; exit",
    "before HEAD moves": '"$REAL" read-tree -m -u "$HEAD" "$COMMIT"; kill -9 $PPID; exit',
    "after HEAD moved": '"$REAL" "$@"; kill -9 $PPID; exit',
}
"""What a git does in place of `git merge`; $PPID is the process that lands."""


def start(checkout: Path, prepared: Prepared, bin_folder: Path, instead: str) -> subprocess.Popen[str]:
    """A process that lands with a git that behaves like this when it comes to the merge."""
    real = sh(checkout, "--exec-path") + "/git"
    bin_folder.mkdir(exist_ok=True)
    script = bin_folder / "git"
    script.write_text(
        f"#!/bin/sh\nREAL={real}; HEAD={prepared.head}; COMMIT={prepared.commit}\n"
        f'case "$*" in *--ff-only*) cd {checkout}; {instead};; esac\nexec "$REAL" "$@"\n'
    )
    script.chmod(0o755)
    return subprocess.Popen(
        [sys.executable, "-c", LANDER, str(checkout), str(prepared.head), prepared.commit],
        env={"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(bin_folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def prepared(pool: Pool, repository: Repository, checkout: Path) -> Prepared:
    worktree = pool.take(head(checkout))
    (worktree.path / "b.txt").unlink()
    prepared = prepare(repository, done_by(worktree, {"a.txt": "x\n", "src/c.txt": "x\n", "new/file": "x\n"}))
    assert isinstance(prepared, Prepared)
    return prepared


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_landing_that_was_killed_is_finished_by_the_next(
    repository: Repository, checkout: Path, prepared: Prepared, tmp_path: Path, moment: str
) -> None:
    write(checkout, {"notes": "the person's\n"})
    process = start(checkout, prepared, tmp_path / "bin", MOMENTS[moment])
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert (checkout / ".git" / "index.lock").exists()
    with landing(repository):
        pass
    assert head(checkout) == prepared.commit
    assert sh(checkout, "status", "--porcelain") == "?? notes"
    assert list((checkout / ".git").glob("index.lock")) + list((checkout / ".git").glob("aot-landing*")) == []
    assert land(repository, prepared, MAIN) == Landed(prepared.commit)


def test_an_edit_made_after_the_crash_is_not_lost(
    repository: Repository, checkout: Path, prepared: Prepared, tmp_path: Path
) -> None:
    start(checkout, prepared, tmp_path / "bin", MOMENTS["half-way through the files"]).communicate()
    write(checkout, {"src/c.txt": "the person's\n"})
    outcome = land(repository, prepared, MAIN)
    assert isinstance(outcome, Blocked)
    assert "src/c.txt" in outcome.paths
    assert (checkout / "src" / "c.txt").read_bytes() == b"the person's\n"
    assert not (checkout / ".git" / "index.lock").exists()


def test_the_next_run_waits_for_a_git_that_outlives_its_run(
    repository: Repository, checkout: Path, prepared: Prepared, tmp_path: Path
) -> None:
    instead = f'kill -9 $PPID; {shell_until_there(tmp_path / "go")}; exec "$REAL" "$@"'
    process = start(checkout, prepared, tmp_path / "bin", instead)
    process.wait()
    landed: list[object] = []
    landing = threading.Thread(target=lambda: landed.append(land(repository, prepared, MAIN)))
    landing.start()
    give_way(0.2)
    assert landed == []
    (tmp_path / "go").touch()
    landing.join(PATIENCE)
    assert landed == [Landed(prepared.commit)]
    process.communicate()
    assert sh(checkout, "status", "--porcelain") == ""


def test_git_killed_at_any_moment_leaves_all_or_nothing_to_the_next(tmp_path: Path) -> None:
    checkout = make_checkout(tmp_path / "many", {f"d{number % 9}/f{number}": "old\n" for number in range(800)})
    repository = opened(checkout)
    with Pool(repository, tmp_path / "pool") as pool:
        for turn in range(8):
            files = {f"d{number % 9}/f{number}": f"new {turn}\n" for number in range(800)}
            prepared = prepared_from(pool, repository, {**files, f"added-{turn}": "x\n"})
            instead = f'timeout -s KILL {0.004 * (turn + 1):.3f} "$REAL" "$@"; kill -9 $PPID; exit'
            start(checkout, prepared, tmp_path / "bin", instead).communicate()
            for leftover in (checkout / ".git" / "refs" / "heads").glob("*.lock"):
                leftover.unlink()  # git's own, as a person would
            assert land(repository, prepared, MAIN) == Landed(prepared.commit), turn
            assert sh(checkout, "status", "--porcelain") == ""
            assert {(checkout / name).read_text() for name in files} == {f"new {turn}\n"}


def test_a_lock_of_the_persons_git_is_waited_for(repository: Repository, checkout: Path, prepared: Prepared) -> None:
    lock = checkout / ".git" / "index.lock"
    lock.touch()
    landed: list[object] = []
    landing = threading.Thread(target=lambda: landed.append(land(repository, prepared, MAIN)))
    landing.start()
    give_way(0.2)
    assert landed == []
    lock.unlink()
    landing.join(PATIENCE)
    assert landed == [Landed(prepared.commit)]


def test_a_lock_that_stays_blocks_and_is_left_alone(repository: Repository, checkout: Path, prepared: Prepared) -> None:
    lock = checkout / ".git" / "index.lock"
    lock.write_bytes(b"DIRC of a git that is running")
    with landing(repository) as one:
        outcome = one.go(Step(prepared.head, prepared.commit, MAIN), lock_patience=0.2)
    assert isinstance(outcome, Blocked)
    assert f"another git process keeps {lock}" in outcome.reason
    assert lock.read_bytes() == b"DIRC of a git that is running"
    assert head(checkout) == prepared.head


def test_the_persons_git_is_kept_out_while_head_is_looked_at(
    checkout: Path, prepared: Prepared, tmp_path: Path
) -> None:
    instead = f'{shell_until_there(tmp_path / "go")}; exec "$REAL" "$@"'
    process = start(checkout, prepared, tmp_path / "bin", instead)
    until((checkout / ".git" / "index.lock").exists)
    write(checkout, {"b.txt": "the person commits\n"})
    done = subprocess.run(["git", "commit", "-qam", "x"], cwd=checkout, capture_output=True, check=False)
    assert b"index.lock" in done.stderr
    (tmp_path / "go").touch()
    process.communicate()
    assert (checkout / "b.txt").read_bytes() == b"the person commits\n"
    assert sh(checkout, "rev-list", "--count", "HEAD") in {"1", "2"}


def test_a_head_that_somebody_moves_without_the_lock_is_noticed(
    checkout: Path, prepared: Prepared, tmp_path: Path
) -> None:
    other = sh(checkout, "commit-tree", "-p", "HEAD", "-m", "x", "HEAD^{tree}")
    instead = f'"$REAL" update-ref refs/heads/main {other}; exec "$REAL" "$@"'
    out, _ = start(checkout, prepared, tmp_path / "bin", instead).communicate()
    assert out.strip() == str(Moved(other))
    assert (checkout / "a.txt").read_text() == "a\n"


def test_one_run_lands_at_a_time(repository: Repository) -> None:
    with landing(repository) as one:
        assert isinstance(one, Landing)
        with pytest.raises(Exception, match="another process keeps"), landing(repository, patience=0.2):
            pass
    with contextlib.ExitStack() as stack:
        stack.enter_context(landing(repository))
    assert (repository.common_dir / LOCK).exists()


def test_half_a_claim_that_was_left_is_removed_by_whoever_comes_next(repository: Repository, checkout: Path) -> None:
    (checkout / ".git" / "aot-claim").write_text("aot\n{")
    with landing(repository):
        pass
    assert not (checkout / ".git" / "aot-claim").exists()
