"""Disks of our own: a small one that fills up, one that becomes read-only. They need a namespace for mounts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.patience import PATIENCE, until
from tests.runner.projects import Project, Ran
from tests.warm import COMMAND

_NEW = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]


def may_mount() -> bool:
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    tried = subprocess.run([*_NEW, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    return tried.returncode == 0


@dataclass
class Disk:
    """Where mounts are seen by nobody else."""

    holder: subprocess.Popen[str]

    def do(self, *command: str, cwd: Path | None = None) -> Ran:
        done = subprocess.run(
            [*self._entered(), *command], capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=cwd
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def make_read_only(self, folder: Path) -> None:
        """For whoever opens something in it from now on."""
        until(lambda: self._is_read_only(folder))

    def _is_read_only(self, folder: Path) -> bool:
        """Refused as long as a file that was opened since the first step is written to."""
        assert self.do("mount", "--bind", str(folder), str(folder)).code == 0
        if self.do("mount", "-o", "remount,bind,ro", str(folder)).code == 0:
            return True
        self.do("umount", "--lazy", str(folder))
        return False

    def start(self, project: Project, *words: str) -> subprocess.Popen[str]:
        """`aot` there, in the folder of a project."""
        # As in Folder.start: the commands of these tests write beside the project.
        command = ["env", "--chdir", str(project.root), "AOT_CONFINE=off", COMMAND, *words]
        return subprocess.Popen([*self._entered(), *command], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def aot(self, project: Project, *words: str) -> Ran:
        process = self.start(project, *words)
        out, err = process.communicate(timeout=PATIENCE)
        return Ran(process.returncode, out, err)

    def read(self, path: Path) -> bytes:
        """As it is there."""
        return Path(f"/proc/{self.holder.pid}/root{path}").read_bytes()

    def _entered(self) -> list[str]:
        user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
        return ["nsenter", "--target", str(self.holder.pid), "--mount", *user]


@contextmanager
def a_disk() -> Iterator[Disk]:
    """A namespace; what is mounted there is gone with it."""
    holder = subprocess.Popen([*_NEW, "sh", "-c", "echo ready; exec sleep 3600"], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "ready\n"
        yield Disk(holder)
    finally:
        holder.kill()
        holder.communicate()
