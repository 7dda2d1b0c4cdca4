"""Without an extra, `aot` says how to install it; with all of them, no command loads them before it needs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aotloop.extras import install_command
from tests.loops import atom
from tests.runner.projects import a_project

HIDE = """
import sys
hidden = {hidden!r}
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Finder())
sys.argv = {argv!r}
from aotloop.cli.main import main
main()
"""
LAZY = ("mcp", "pydantic", "apprise", "opentelemetry", "starlette", "uvicorn", "temporalio", "cryptography")


def aot(folder: Path, *words: str, hidden: tuple[str, ...] = LAZY) -> subprocess.CompletedProcess[str]:
    script = HIDE.format(hidden=hidden, argv=["aot", *words])
    return subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)


def test_the_mcp_server_is_named_with_its_install_command(project: Path) -> None:
    done = aot(project, "mcp")
    assert (done.returncode, install_command("mcp") in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("extra", "settings"),
    [
        ("notify", '[notify]\nurls = ["json://127.0.0.1:9"]\n'),
        ("otel", '[telemetry]\nenabled = true\nendpoint = "http://127.0.0.1:9"\n'),
    ],
)
def test_a_run_goes_on_without_what_it_only_wished_for(tmp_path: Path, extra: str, settings: str) -> None:
    folder = Path(os.environ["HOME"], ".config", "aotloop")
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(settings)
    project = a_project(tmp_path, atom("A1", run="echo a > a.txt"), base_case="test -f a.txt")
    done = aot(project.root, "run", "--yes")
    assert (done.returncode, project.loop.control.status) == (0, "completed")
    assert install_command(extra) in done.stderr


def test_no_command_loads_an_extra_before_it_needs_it(project: Path) -> None:
    script = f"""
import sys
import aotloop.cli.main, aotloop.app.run.start, aotloop.app.outlets.telemetry
from aotloop.cli.commands.control import run, session_proposals
from aotloop.cli.commands.setup import dev_cluster, mcp, notify, worker
from aotloop.cli.commands.views import report, serve
print([name for name in {LAZY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("words", [("worker",), ("worker", "--doctor"), ("dev-cluster",), ("run", "--yes")])
def test_other_machines_are_named_with_their_install_command(tmp_path: Path, words: tuple[str, ...]) -> None:
    folder = Path(os.environ["HOME"], ".config", "aotloop")
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('isolation = "remote"\n')
    project = a_project(tmp_path, atom("A1", run="echo a > a.txt"), base_case="test -f a.txt")
    done = aot(project.root, *words)
    assert (done.returncode, install_command("temporal") in done.stderr) == (1, True)
    assert "Traceback" not in done.stderr


def test_a_run_on_this_machine_loads_nothing_for_other_machines(tmp_path: Path) -> None:
    """But what shows where an attempt is. So it is as fast as without the extra."""
    project = a_project(tmp_path, atom("A1", run="echo a > a.txt"), base_case="test -f a.txt")
    script = """
import atexit, sys
@atexit.register
def tell():
    print([name for name in sys.modules if name.startswith(("temporalio", "cryptography", "aotloop.remote."))])
sys.argv = ["aot", "run", "--yes"]
from aotloop.cli.main import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=project.root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "['aotloop.remote.whereabouts']"), done.stderr
