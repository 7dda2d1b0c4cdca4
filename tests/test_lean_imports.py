"""A module that stands in is gone afterwards, and takes the place of none that is there."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest

from aotloop.lean_imports import standing_in


def test_a_stand_in_is_there_only_meanwhile() -> None:
    stand_in = ModuleType("not_a_module_of_anyone")
    with standing_in("not_a_module_of_anyone", stand_in):
        assert import_module("not_a_module_of_anyone") is stand_in
    with pytest.raises(ModuleNotFoundError):
        import_module("not_a_module_of_anyone")


def test_without_a_stand_in_the_import_fails_and_what_is_loaded_stays() -> None:
    with standing_in("not_a_module_of_anyone"), pytest.raises(ModuleNotFoundError):
        import_module("not_a_module_of_anyone")
    with standing_in("sys"):
        assert import_module("sys") is sys


def test_the_reader_leaves_the_real_module_to_others() -> None:
    code = "import aotloop.statefile.yaml.fast_reader, deprecation; print(deprecation.DeprecatedWarning.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "DeprecatedWarning\n"


def test_modules_that_were_imported_quickly_are_whole() -> None:
    code = (
        "import sys; from aotloop import lean_imports as lean; lean.import_pathlib(); lean.import_msgspec();"
        "print(*('platform' in sys.modules, 'urllib.parse' in sys.modules), end=' ');"
        "import pathlib, platform, uuid; print(pathlib.Path('/a b').as_uri(), platform.python_version(), uuid.uuid4());"
        "import datetime, textwrap, msgspec;"
        "print(msgspec.json.decode('\"2026-01-02T03:04:05Z\"', type=datetime.datetime), textwrap.shorten('a  b', 9));"
        "print(msgspec.json.schema(msgspec.defstruct('S', ['x'], namespace={'__doc__': ' said'}))['$defs'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second, third = done.stdout.splitlines()
    assert first.startswith(f"False False file:///a%20b {sys.version.split()[0]} ")
    assert second == "2026-01-02 03:04:05+00:00 a b"
    assert "'description': 'said'" in third
