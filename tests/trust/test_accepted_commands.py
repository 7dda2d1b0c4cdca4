"""What a user accepted is kept in that user's own folder, for one file and its very words."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.core.model import AtomCheck, Decomposition
from aotloop.errors import Unavailable
from aotloop.trust.accepted_commands import is_trusted, trust
from tests.cli.terminal import aot
from tests.loops import a_loop, atom, write_loop

RUNS = "touch ran.txt"


def test_it_is_kept_in_the_home_of_the_user_and_readable_by_a_person(project: Path, own_home: Path) -> None:
    path = write_loop(project, a_loop(atom("A1"), command=RUNS))
    aot("verify", "--yes")
    (record,) = (own_home / ".local" / "share" / "aotloop" / "trusted").iterdir()
    assert RUNS in record.read_text()
    assert str(path) in record.read_text()
    assert stat.S_IMODE(record.parent.stat().st_mode) == 0o700
    record.unlink()
    assert aot("verify").code == 1


def test_the_data_folder_can_be_elsewhere_but_not_relative(
    project: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    trust("x.md", ["make"])
    assert is_trusted("x.md", ["make"])
    assert len(list((tmp_path / "data" / "aotloop" / "trusted").iterdir())) == 1
    monkeypatch.setenv("XDG_DATA_HOME", "here")
    assert not is_trusted("x.md", ["make"])
    trust("x.md", ["make"])
    assert not (project / "here").exists()
    assert (own_home / ".local").exists()


def test_a_home_that_cannot_be_written_to_costs_only_the_memory(project: Path, own_home: Path) -> None:
    (own_home / ".local").write_text("a file where a folder should be")
    write_loop(project, a_loop(atom("A1"), command=RUNS))
    accepted = aot("verify", "--yes")
    assert accepted.code == 0
    assert "cannot be remembered" in accepted.err
    assert "XDG_DATA_HOME" in accepted.err
    assert (project / "ran.txt").exists()
    assert aot("verify").code == 1
    with pytest.raises(Unavailable, match="cannot be remembered"):
        trust("x.md", ["make"])


def test_the_order_and_the_words_matter(project: Path) -> None:
    here = str(project / "x.md")
    trust(here, ["a", "b"])
    assert is_trusted(here, ["a", "b"])
    for others in (["b", "a"], ["a"], ["a", "b", "c"], ["a b"], ["a", "b "]):
        assert not is_trusted(here, others)


def test_a_path_that_is_not_utf8_can_be_trusted(project: Path) -> None:
    here = os.fsdecode(os.fsencode(project) + b"/\xff.md")
    assert not is_trusted(here, ["make"])
    trust(here, ["make"])
    assert is_trusted(here, ["make"])


def test_one_file_has_many_names(project: Path) -> None:
    (project / "link").symlink_to(project)
    trust("x.md", ["make"])
    for name in (str(project / "x.md"), str(project / "link" / "x.md"), "./x.md"):
        assert is_trusted(name, ["make"])


def test_commands_that_change_while_a_check_runs_are_not_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Consent was for the file as it was; a check of the parent that came later is not covered by it."""
    loop = a_loop(
        atom("P", check=AtomCheck(type="command", value="true")),
        atom("A1", status="in_progress", check=AtomCheck(type="command", value="sh swap.sh")),
        decompositions=[Decomposition(parent="P", children=("A1",), reason="r")],
    )
    path = write_loop(project, loop)
    swapped = path.read_text().replace('value: "true"\n', 'value: "touch pwned"\n', 2)
    (project / "swapped.md").write_text(swapped)
    (project / "swap.sh").write_text(f"cp swapped.md {path}\n")
    monkeypatch.setenv("AOT_CONFINE", "off")  # a fence would not let it
    done = subprocess.run(
        [str(Path(sys.executable).parent / "aot"), "atom", "resolve", "A1", "--summary", "s", "--yes"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "touch pwned" in path.read_text()
    assert not (project / "pwned").exists()
    assert "changed while its commands ran" in done.stderr
