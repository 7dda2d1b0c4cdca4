"""Texts that leave a trace if they are run, followed or taken for an option; and the traces they would leave."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OURS = (".claude", ".aot", ".git", "home/.local/share/aotloop", "home/.cache/aot", "home/.claude")
"""Where files of ours belong: in the project, and in the home beside it."""


@dataclass(frozen=True)
class Trap:
    """In a folder with `project` and `home` in it."""

    folder: Path

    @property
    def canary(self) -> Path:
        return self.folder / "canaries" / "CANARY"

    @property
    def program(self) -> Path:
        """A program that leaves the trace, if it is started."""
        return self.folder / "project" / "evil.sh"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def set(self) -> None:
        self.canary.parent.mkdir(parents=True)
        self.temporary.mkdir()
        self.program.write_text(f"#!/bin/sh\ntouch {self.canary}-program\n")
        self.program.chmod(0o755)

    def texts(self) -> dict[str, str]:
        one = str(self.canary)
        return {
            "substitution": f"$(touch {one}-1)`touch {one}-2`${{IFS}}",
            "quotes": f"'; touch {one}-3; '\"; touch {one}-4; \" || touch {one}-5 & touch {one}-6 | touch {one}-7",
            "lines": f"first\ntouch {one}-8\n---\ntouch {one}-9\n",
            "option": f"--output={one}-10",
            "upload": f"--upload-pack=touch {one}-11",
            "path": "../../ESCAPED",
            "absolute": f"{self.folder}/ESCAPED-too",
            "program": str(self.program),
            "terminal": "\x1b]0;owned\x07\x1b[2J\u202e\r",
            "template": "{prompt}%s%n{0.__class__}${HOME}~root/x",
        }

    def executed(self) -> list[str]:
        """What was run, and cleared away so that the next case begins anew."""
        found = [path.name for path in self.canary.parent.iterdir()]
        for name in found:
            (self.canary.parent / name).unlink()
        return found

    def files(self) -> dict[str, int]:
        """All that does not belong to us, with its size."""
        return dict(self._walk())

    def _walk(self) -> Iterator[tuple[str, int]]:
        for name, names, files in os.walk(self.folder):
            folder = Path(name)
            inside = folder.relative_to(self.folder)
            names[:] = [one for one in names if not _is_ours(str(inside / one))]
            yield from ((str(inside / one), (folder / one).lstat().st_size) for one in files)


def _is_ours(path: str) -> bool:
    return path in ("canaries", "tmp") or path.removeprefix("project/") in OURS
