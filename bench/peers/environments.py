"""Every peer has its own virtual environment, with exactly the versions of its constraints file.

Pip installs them once, from the index that the user has configured; after a change of the constraints file, again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from bench.peers.contenders import Contender

PATIENCE = 300.0


class NotThereError(Exception):
    """Why a contender cannot be measured, in words for the table: without paths, and without names of hosts."""


def make_ready(contender: Contender, cache: Path) -> None:
    """Raises NotThereError."""
    if contender.is_missing:
        raise NotThereError(f"there is no {contender.program} on this machine")
    if contender.environment is None:
        return
    wanted = " ".join(contender.packages) + "\n" + contender.constraints.read_text()
    folder = cache / contender.environment
    stamp = folder / "ready"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"installing {contender.environment} ...", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)], "its environment could not be made")
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    _run([*install, "-c", str(contender.constraints), *contender.packages], "it could not be installed")
    stamp.write_text(wanted)


def _run(argv: list[str], failure: str) -> None:
    try:
        subprocess.run(argv, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise NotThereError(f"{failure} in {PATIENCE:.0f} s") from None
    except subprocess.CalledProcessError as error:
        print(error.stderr[-2000:], file=sys.stderr)
        raise NotThereError(failure) from None
