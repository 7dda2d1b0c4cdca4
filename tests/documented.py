"""The shell sessions of a page: what is typed after `$ ` in its ```console blocks, and what should come of it.

They are run in one shell, one page in one folder with a home of its own. Files are made of blocks that begin with their
name in a comment. Blocks of another kind (```sh) show what cannot be run here.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w.-]+\.\w+)\n")
MARK = "\x01"
OURSELVES = (sys.executable, "-P", "-c", "from aotloop.cli.main import main; main()")
VARYING = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z|\b[0-9a-f]{7,40}\b|\b\d+(\.\d+)? ?s\b|attempt \d+ ")
"""Times, commits, durations, and the number of an attempt where several begin at once."""


@dataclass(frozen=True)
class Step:
    command: str
    expected: list[str]
    """Empty: whatever it prints. A line … stands for any lines, and … within a line for anything."""


def steps_of(page: str) -> list[Step]:
    steps: list[Step] = []
    for kind, text in BLOCK.findall(page):
        if kind == "console":
            steps += _session(text)
        elif (named := NAMED.match(text)) is not None:
            steps.append(Step(f"cat > {named[1]} <<'END OF FILE'\n{text}END OF FILE", []))
    return steps


def _session(text: str) -> list[Step]:
    steps: list[Step] = []
    lines = iter(text.splitlines())
    for line in lines:
        if not line.startswith("$ "):
            steps[-1].expected.append(line)
            continue
        command = line.removeprefix("$ ")
        while command.endswith("\\"):
            command += f"\n{next(lines)}"
        steps.append(Step(command, []))
    return steps


def printed(steps: list[Step], folder: Path) -> list[list[str]]:
    """What each step prints, suggestions of next steps left out."""
    home, programs = folder / "home", folder / "bin"
    for made in (home, programs, folder / "work"):
        made.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = A Person\n\temail = person@example.org\n")
    aot = programs / "aot"
    aot.write_text(f'#!/bin/sh\nexec {shlex.join(OURSELVES)} "$@"\n')
    aot.chmod(0o755)
    script = folder / "session.sh"
    script.write_text("".join(f"last=$?; printf '\\001\\n'; (exit $last)\n{step.command}\n" for step in steps))
    ran = subprocess.run(
        ["sh", script],
        stdin=subprocess.DEVNULL,
        cwd=folder / "work",
        env={"HOME": str(home), "PATH": f"{programs}:{os.environ['PATH']}", "LANG": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        text=True,
        timeout=PATIENCE,
    )
    return [_shown(part) for part in ran.stdout.split(f"{MARK}\n")[1:]]


def _shown(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("Next: ")]


def differences(step: Step, lines: list[str]) -> list[str]:
    """Lines that should be there and are not; and, unless some are left out, lines that should not."""
    if not step.expected:
        return []
    found = [_steady(line) for line in lines]
    wanted = [line for line in step.expected if line.strip() != "…"]
    missing = [line for line in wanted if not any(_pattern(line).fullmatch(one) for one in found)]
    if "…" in [line.strip() for line in step.expected]:
        return missing
    patterns = [_pattern(line) for line in wanted]
    return missing + [one for one in found if one and not any(pattern.fullmatch(one) for pattern in patterns)]


def _steady(line: str) -> str:
    """What differs each time is made the same."""
    return VARYING.sub("~", line).rstrip()


def _pattern(line: str) -> re.Pattern[str]:
    """The time before a line of news may be left out."""
    return re.compile("(~  )?" + ".*".join(re.escape(part) for part in _steady(line).split("…")))
