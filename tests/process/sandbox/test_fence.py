"""What is closed cannot be changed by whatever is started there; everything else can, and we ourselves can do all."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from aotloop.agents.command_backend import Command
from aotloop.agents.contract import Done
from aotloop.process.sandbox import Confinement, confined, is_possible, permitted
from tests.agents.assignments import an_assignment, attempt, worker_answer

confining = pytest.mark.skipif(not is_possible(), reason="this kernel has no Landlock")


def a_world(folder: Path) -> tuple[Path, Path]:
    """A closed folder with an open one in it, and others beside."""
    closed = folder / "way" / "closed"
    (closed / "open").mkdir(parents=True)
    (closed / "file").write_text("as it was\n")
    (folder / "way" / "beside").mkdir()
    (folder / "other").mkdir()
    return closed, closed / "open"


def shell(confinement: Confinement | None, command: str, cwd: Path) -> int:
    words = ["/bin/sh", "-c", command]
    return confined(confinement, lambda: subprocess.Popen(words, cwd=cwd, stderr=subprocess.DEVNULL)).wait()


@confining
@pytest.mark.parametrize(
    ("command", "works"),
    [
        ("echo x > closed/file", False),
        ("echo x >> closed/file", False),
        ("truncate -s 0 closed/file", False),
        ("rm closed/file", False),
        ("mv closed/file beside/file", False),
        ("touch beside/new && mv beside/new closed/new", False),
        ("ln closed/file beside/link", False),
        ("mkdir closed/new", False),
        ("ln -s x closed/new", False),
        ("mkfifo closed/new", False),
        ("ln -s ../closed beside/link && echo x > beside/link/file", False),
        ("cd closed && echo x > file", False),
        ("setsid sh -c 'echo x > closed/file'", False),
        ("echo x > new", False),  # on the way to what is closed: the price
        ("mv closed gone", False),
        ("cat closed/file", True),
        ("echo x > closed/open/new && rm closed/open/new", True),
        ("echo x > beside/new && mv beside/new ../other/new", True),
        ("mkdir -p ../other/a/b && rm -r ../other/a", True),
        ("echo x > /dev/null", True),
    ],
)
def test_what_is_closed_stays_as_it_is(tmp_path: Path, command: str, *, works: bool) -> None:
    closed, inner = a_world(tmp_path)
    code = shell(Confinement(closed=(closed,), open=(inner,)), command, tmp_path / "way")
    assert (code == 0) == works
    assert (closed / "file").read_text() == "as it was\n"
    assert {path.name for path in closed.iterdir()} == {"file", "open"}


@confining
def test_who_confines_others_is_not_confined(tmp_path: Path) -> None:
    closed, _ = a_world(tmp_path)
    confinement = Confinement(closed=(closed,))
    assert shell(confinement, "echo x > closed/file", tmp_path / "way") != 0
    (closed / "file").write_text("ours\n")
    assert shell(None, "echo x > closed/file", tmp_path / "way") == 0


@confining
def test_a_link_is_followed_to_what_is_closed(tmp_path: Path) -> None:
    closed, _ = a_world(tmp_path)
    link = tmp_path / "other" / "link"
    link.symlink_to(closed)
    assert shell(Confinement(closed=(link,)), "echo x > closed/file", tmp_path / "way") != 0


@confining
def test_what_cannot_be_started_is_told_as_ever(tmp_path: Path) -> None:
    closed, _ = a_world(tmp_path)
    with pytest.raises(FileNotFoundError):
        confined(Confinement(closed=(closed,)), lambda: subprocess.Popen(["/no/such/program"]))


def test_what_can_be_changed_is_what_is_open(tmp_path: Path) -> None:
    closed, inner = a_world(tmp_path)
    (tmp_path / "link").symlink_to(closed)
    rules = [*permitted(Confinement(closed=(closed, closed / "open"), open=(inner,)), {}, inner)]
    found = {rule[1:] for rule in rules if rule.startswith("w")}
    assert {str(inner), str(tmp_path / "other"), str(tmp_path / "way" / "beside")} <= found  # of a temporary folder
    assert not found & {
        "/",
        "/etc",
        "/proc",
        "/sys",
        "/dev",
        "/usr",
        str(tmp_path),
        str(closed),
        str(tmp_path / "link"),
    }
    assert not [one for one in found if one.startswith(("/proc", "/sys", "/etc", "/usr", "/bin"))]
    assert all(not os.path.realpath(one).startswith(str(closed)) or one == str(inner) for one in found)


@confining
@pytest.mark.parametrize("place", ["home", ".local/bin", ".config/git", ".bashrc", ".cache/aot/worktrees/other"])
def test_landlock_opens_nothing_beside_what_is_open(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As bubblewrap does: a program on PATH, a start file of a shell, another worktree, a setting of git."""
    home = tmp_path / "home"
    (home / place).mkdir(parents=True)
    (home / ".local/share/aotloop").mkdir(parents=True)
    (home / ".local/share/aotloop/key").write_text("the key")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("aotloop.process.sandbox.permitted_paths._TEMPORARY", ())
    _, inner = a_world(tmp_path)
    fence = Confinement(closed=(), open=(inner,))

    def shell_code(command: str) -> int:
        words = ["/bin/sh", "-c", command]
        return confined(fence, lambda: subprocess.Popen(words, cwd=inner, stderr=subprocess.DEVNULL), inner).wait()

    assert shell_code("echo x > new && cat new && cat /etc/passwd") == 0
    assert shell_code(f"echo x > {home}/{place}/planted") != 0
    assert shell_code("cat $HOME/.local/share/aotloop/key") != 0
    assert not [*(home / place).iterdir()]


@confining
def test_an_attempt_whose_temporary_folder_is_closed_gets_one_of_its_own(tmp_path: Path) -> None:
    """A checkout in /tmp closes that, too."""
    closed, _ = a_world(tmp_path)
    program = f"echo x > $(mktemp) && mktemp -u > seen && echo '{worker_answer()}'"
    backend = Command(argv=("/bin/sh", "-c", program))
    scratch = tmp_path / "other" / "scratch"
    env = {"TMPDIR": str(tmp_path / "way")}
    assignment = an_assignment(
        tmp_path, scratch=scratch, env=env, confinement=Confinement(closed=(closed,)).opened(scratch)
    )
    assert isinstance(attempt(backend, assignment), Done)
    assert (assignment.cwd / "seen").read_text().startswith(str(scratch / "tmp"))
    assert not (scratch / "tmp").exists()
