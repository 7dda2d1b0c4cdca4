"""A process that loses its parent becomes a child of the process that adopts orphans."""

from __future__ import annotations

import subprocess
import sys

FORKS = """
import os, time
from aotloop.process.spawn import adopt_orphans
adopt_orphans()
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    parent = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == parent:
        time.sleep(0.01)
    os.write(writing, str(os.getppid()).encode())
    os._exit(0)
os.wait()
print(os.read(reading, 20).decode() == str(os.getpid()))
"""


def test_an_orphan_is_adopted() -> None:
    words = [sys.executable, "-c", FORKS]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == "True"
