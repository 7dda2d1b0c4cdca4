"""What others may build on, and that nothing of it is imported before it is asked for."""

from __future__ import annotations

import subprocess
import sys

import aotloop


def test_the_public_names_are_these_and_all_of_them_exist() -> None:
    assert aotloop.__all__ == [
        "AotError", "Graph", "Loop", "Store", "advance", "decode", "evaluate", "examine", "find_state_file"
    ]  # fmt: skip
    for name in aotloop.__all__:
        assert getattr(aotloop, name).__module__.startswith("aotloop.")


def test_importing_the_package_imports_nothing_else() -> None:
    script = "import sys; before = set(sys.modules); import aotloop; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "msgspec" not in done.stdout


def test_asking_for_help_imports_neither_yaml_nor_rich_nor_the_layout_library() -> None:
    script = (
        "import atexit, sys; sys.argv = ['aot', '--help']\n"
        "slow = {'yaml', 'ryml', 'rich.console', 'fast_sugiyama', 'psutil'}\n"
        "atexit.register(lambda: print(slow & set(sys.modules)))\n"
        "from aotloop.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("set()")
