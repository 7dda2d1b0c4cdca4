"""Memory of large texts goes back to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
from aotloop.process.allocator import return_large_blocks

if sys.argv[1] == "tuned":
    return_large_blocks()
bytearray(20 << 20)  # glibc takes note of its size when it is freed
texts = [bytearray(b"x") * (1 << 20) for _ in range(30)]
last = bytearray(b"x") * (1 << 20)
del texts
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_freed_texts_are_not_kept() -> None:
    kept, tuned = (
        int(subprocess.run([sys.executable, "-c", CODE, how], capture_output=True, text=True, check=True).stdout)
        for how in ("as it is", "tuned")
    )
    assert tuned < 20_000 or tuned < kept - 20_000
