"""Backends are found by name, and loaded only when asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.agents.registry import BACKENDS, backend
from aotloop.agents.settings import Settings
from aotloop.errors import Unavailable


@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_of_the_table_can_be_made_and_knows_its_name(name: str) -> None:
    assert backend(name, Settings(argv=("agent",))).name == name


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    known = ", ".join(sorted(BACKENDS))
    with pytest.raises(Unavailable, match=f"there is no agent backend 'shel'; there are: {known}"):
        backend("shel")


def test_a_backend_whose_library_is_missing_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needy_backend.py").write_text("import no_such_library_anywhere\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(Unavailable, match="needs no_such_library_anywhere") as error:
        backend("needy", table={"needy": "needy_backend"})
    assert error.value.hint == "Install it with: pip install 'aotloop[needy]'"


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    program = "import sys, aotloop.agents.registry; print([m for m in sys.modules if 'agents.' in m and 'shell' in m])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
