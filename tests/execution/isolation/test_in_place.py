"""In the project's own folder, too: protected files stay as agreed, and the fence closes all but the folder itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops import atom
from tests.process.sandbox.worlds import engines
from tests.runner.agents import done, scripted
from tests.runner.projects import a_project

ENGINES = [*engines(), "off"]


def in_place(engine: str) -> dict[str, str]:
    return {"AOT_ISOLATION": "none", "AOT_CONFINE": "auto", "AOT_SANDBOX": engine}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_weakened_protected_test_completes_nothing(tmp_path: Path, engine: str) -> None:
    """Seen: the first attempt was refused, its file stayed, and the second one was compared with that."""
    marks = tmp_path / "project" / "marks"
    marks.mkdir(parents=True)
    project = a_project(
        tmp_path,
        atom("A1"),
        base_case="sh tests/t.sh",
        files={"tests/t.sh": "exit 1\n"},
        protect=("tests/**",),
        config=scripted(marks, {"*": [done({"tests/t.sh": "exit 0\n"}), done()]}),
        environ=in_place(engine),
    )
    for _ in range(2):  # nor does a further run, which begins with the weakened file
        ran = project.run()
        assert ran.code != 0, ran.out
        assert project.loop.control.status != "completed"
        assert (project.root / "tests/t.sh").read_text() == "exit 0\n"


@pytest.mark.skipif("bwrap" not in ENGINES, reason="bubblewrap does not work here")
def test_the_fence_that_was_asked_for_holds_in_place(tmp_path: Path, own_home: Path) -> None:
    (own_home / ".config/aotloop").mkdir(parents=True)
    places = "$HOME $HOME/.config/aotloop .git .git/hooks .aot .claude .."
    work = f"for one in {places}; do echo x > $one/canary; done; echo a > a"
    project = a_project(tmp_path, atom("A1", run=work), base_case="test -f a", environ=in_place("bwrap"))
    ran = project.run()
    assert ran.code == 0, ran.out
    assert (project.root / "a").exists()
    assert not [*tmp_path.rglob("canary"), *own_home.rglob("canary")]
