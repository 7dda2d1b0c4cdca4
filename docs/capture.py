"""Takes the pictures of the documentation from a real terminal: `aot demo` is watched, and what it leaves is looked at.

What is shown is what was printed, cell by cell. Nothing in it says on which machine. Run: make screens
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import termios
from contextlib import suppress
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
OURSELVES = (sys.executable, "-P", "-c", "from aotloop.cli.main import main; main()")
COLUMNS, LINES = 100, 34

WORK = (
    ("start", "client"),
    ("resolve", "client", "--summary", "client/ is generated from openapi.yaml"),
    ("start", "ledger"),
    ("fail", "ledger", "--reason", "two movements at once, and the sum is wrong"),
    ("start", "ledger"),
    ("fail", "ledger", "--reason", "under a lock it takes a second"),
    ("start", "balance"),
)

REDRAWN = re.compile(r"\r?\x1b\[2K(?:\x1b\[1A\x1b\[2K)*")
"""How a picture that keeps up takes itself back before it is drawn again."""

FORMAT = re.sub(r"@font-face \{\{.*?\}\}|<!--.*?-->", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
FORMAT = FORMAT.replace("Fira Code", "ui-monospace")
"""As it comes, it fetches its font from elsewhere."""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="aot-screens-") as folder:
        home, project = Path(folder), Path(folder) / "demo" / "pancakes"
        told = printed(home, home, "demo", "--folder", str(project.parent))
        show("run", "aot run", busiest(REDRAWN.split(told)))
        show("status", "aot status", printed(home, project, "status"))
        draw_graph(home)


def draw_graph(home: Path) -> None:
    """Of a typical project, when one way has failed and the other is under way."""
    project = home / "webshop"
    shutil.copytree(EXAMPLES / project.name, project)
    for words in WORK:
        printed(home, project, "atom", *words)
    printed(home, project, "graph", "-o", str(DOCS / "graph.svg"))


def busiest(frames: list[str]) -> str:
    """Where an alternative was given up already, and most is under way."""
    after = [frame for frame in frames if "✘" in frame and "●" in frame]
    return max(after, key=lambda frame: (frame.count("●"), frame.count("│")))


def show(name: str, title: str, text: str) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text.strip("\n")), overflow="crop", no_wrap=True)
    drawn = console.export_svg(title=title, code_format=FORMAT, unique_id=name)
    refuse_traces(name, drawn)
    (DOCS / f"{name}.svg").write_text(drawn, encoding="utf-8")


def refuse_traces(name: str, drawn: str) -> None:
    """Of the machine it was taken on, and of the network: a picture shows what every user would see."""
    traces = [str(Path.home()), tempfile.gettempdir(), socket.gethostname(), str(DOCS.parent), "https://"]
    if found := [trace for trace in traces if trace in drawn]:
        raise SystemExit(f"{name}: it shows {', '.join(found)}")


def printed(home: Path, folder: Path, *words: str) -> str:
    """What a command prints on a terminal, colours included."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    seen = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    process = subprocess.Popen(  # noqa: S603 - ourselves
        (*OURSELVES, *words), cwd=folder, env=seen, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    pieces = []
    with suppress(OSError):  # how Linux says that the other side is closed
        while piece := os.read(ours, 65536):
            pieces.append(piece)
    os.close(ours)
    if process.wait():
        raise SystemExit(f"aot {' '.join(words)} ended with {process.returncode}")
    return b"".join(pieces).decode().replace("\r\n", "\n")


if __name__ == "__main__":
    main()
