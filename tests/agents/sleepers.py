"""A command that hangs and has children, one of them in a session of its own; known by a number that no other has."""

from __future__ import annotations

import time

import psutil


class Sleepers:
    def __init__(self) -> None:
        self._seconds = f"3600.{time.monotonic_ns()}"
        sleep = f"sleep {self._seconds}"
        self.command = f"setsid {sleep} & {sleep} & echo 1 > started; {sleep}"

    def alive(self) -> int:
        return sum(self._is_one(process) for process in psutil.process_iter())

    def _is_one(self, process: psutil.Process) -> bool:
        try:
            return process.cmdline()[-2:] == ["sleep", self._seconds]
        except psutil.Error:
            return False
