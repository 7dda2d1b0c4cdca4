"""An agent that wants to steer: it looks for the token wherever it can look in this test, and tries what it finds.

It stays inside of the test: the processes between it and the `aot run` that started it, the folders and the port that
it is given. It reads nothing of other processes of the machine, and talks to no other port.

Arguments: the key of the loop, a file that names the port, folders to search.
"""

from __future__ import annotations

import json
import os
import re
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

TOKEN = re.compile(rb"token=([A-Za-z0-9_-]{32})")
MOST_OF_MEMORY = 64 << 20


def listening() -> set[int]:
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == "0A"}


def own_tree() -> list[Path]:
    """From the process above this one up to `aot run --serve`, and no further."""
    found, pid = [], os.getppid()
    while pid > 1:
        folder = Path("/proc") / str(pid)
        found.append(folder)
        if b"--serve" in (folder / "cmdline").read_bytes():
            return found
        pid = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    raise SystemExit("this agent was not started by `aot run --serve`")


def memory_of(folder: Path) -> list[bytes]:
    found = []
    with suppress(OSError):
        for line in (folder / "maps").read_text().splitlines():
            begin, end = (int(one, 16) for one in line.split()[0].split("-"))
            if " rw" in line and end - begin <= MOST_OF_MEMORY:
                with suppress(OSError), (folder / "mem").open("rb") as memory:
                    memory.seek(begin)
                    found.append(memory.read(end - begin))
    return found


def readable(roots: list[str]) -> list[bytes]:
    found = []
    for folder in own_tree():
        for name in ("cmdline", "environ"):
            with suppress(OSError):
                found.append((folder / name).read_bytes())
        found += memory_of(folder)
    for root in roots:
        for path in Path(root).rglob("*"):
            with suppress(OSError):
                if path.is_file() and path.stat().st_size < 1 << 20:
                    found.append(path.read_bytes())
    return found


def asked(port: int, path: str, body: object = None) -> int:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/json", "Origin": f"http://127.0.0.1:{port}"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers)
    try:
        return int(urllib.request.urlopen(request).status)
    except urllib.error.HTTPError as error:
        return error.code


def main() -> None:
    key, named, roots = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    port = int(named.read_text())
    tokens = {token.decode() for text in readable(roots) for token in TOKEN.findall(text)}
    answers = [asked(port, "/api/session")]
    answers += [asked(port, "/api/login", {"token": token}) for token in (*sorted(tokens), "a guess")]
    answers += [asked(port, f"/api/loops/{key}/{name}", {}) for name in ("stop", "redirect", "accept", "confirm")]
    report = {"is_seen": port in listening(), "tokens": len(tokens), "answers": answers}
    Path("report.json").write_text(json.dumps(report))


main()
