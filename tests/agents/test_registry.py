"""Backends are found by name, and loaded only when asked for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from aotloop.agents.registry import BACKENDS, EXTRAS, Settings, backend
from aotloop.errors import Unavailable
from aotloop.extras import install_command

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


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
    assert error.value.hint == "Install it with: pip install no_such_library_anywhere"
    with pytest.raises(Unavailable) as error:
        backend("claude", table={"claude": "needy_backend"})
    assert error.value.hint == f"Install it with: {install_command('claude')}"
    (tmp_path / "poor_backend.py").write_text("raise ModuleNotFoundError('no', name='sqlite3')\n")
    with pytest.raises(Unavailable, match="needs sqlite3") as error:
        backend("poor", table={"poor": "poor_backend"})
    assert "pip" not in (error.value.hint or "")


def test_every_extra_of_a_backend_is_one_of_the_distribution_and_brings_its_package() -> None:
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"]
    of_no_backend = {"dev", "dev-server", "fuzz", "local-model", "mcp", "notify", "otel", "temporal", "web"}
    assert of_no_backend <= set(extras)
    assert set(EXTRAS) == set(extras) - of_no_backend
    for name, package in EXTRAS.items():
        assert name in BACKENDS
        assert any(re.match(rf"{package}\b", one) for one in extras[name])


def test_every_backend_is_loaded_without_what_its_extra_brings() -> None:
    """A client is a program; a package that carries one is looked for, and never loaded."""
    modules = [package.replace("-", "_") for package in EXTRAS.values()]
    program = f"import sys, {', '.join(BACKENDS.values())}; print([one for one in {modules} if one in sys.modules])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    program = "import sys, aotloop.agents.registry; print([m for m in sys.modules if 'agents.' in m and 'shell' in m])"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"
