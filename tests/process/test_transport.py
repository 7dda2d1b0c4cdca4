"""A client that talks with a process never waits for it, and can have it ended."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from aotloop.process.async_run import run
from aotloop.process.exit_status import Completed
from aotloop.process.spec import ProcessSpec
from aotloop.process.transport import LONGEST_MESSAGE, JsonLines, Transport

ECHO = "import sys; [print(len(line), flush=True) for line in sys.stdin]"


class Talker:
    def __init__(self, words: bytes, *, end: str = "finish") -> None:
        self._words = words
        self._end = end
        self.heard: dict[str, bytes] = {"stdout": b"", "stderr": b""}

    def begin(self, transport: Transport) -> None:
        self.transport = transport
        transport.write(self._words)
        if self._end == "finish":
            transport.finish(60)
        transport.write(b"too late\n" if self._end == "finish" else b"")

    def hear(self, stream: str, chunk: bytes) -> None:
        self.heard[stream] += chunk
        if self._end == "stop":
            self.transport.stop_in(0)


def talked(folder: Path, program: str, talker: Talker, **more: Any) -> Completed:
    values: dict[str, Any] = {"env": {"PATH": os.environ["PATH"]}, "stdin": "pipe", "mark": "TEST_MARK"}
    spec = ProcessSpec(argv=(sys.executable, "-c", program), cwd=folder, **{**values, **more})
    return asyncio.run(run(spec, talker))


def test_what_is_written_arrives_and_the_end_too(tmp_path: Path) -> None:
    talker = Talker(b"abc\n")
    ran = talked(tmp_path, ECHO, talker)
    assert (ran.exit_code, talker.heard["stdout"]) == (0, b"4\n")


def test_megabytes_to_one_who_reads_late_are_no_deadlock(tmp_path: Path) -> None:
    talker = Talker(b"x" * 3_000_000 + b"\n")
    ran = talked(tmp_path, f"import time; print('y' * 500_000, flush=True); time.sleep(0.1); {ECHO}", talker)
    assert ran.exit_code == 0
    assert talker.heard["stdout"].endswith(b"\n3000001\n")


def test_one_who_never_reads_does_no_harm(tmp_path: Path) -> None:
    assert talked(tmp_path, "raise SystemExit(3)", Talker(b"x" * 3_000_000, end="")).exit_code == 3


def test_it_can_be_ended(tmp_path: Path) -> None:
    program = "import sys, time; print('here', file=sys.stderr, flush=True); time.sleep(3600)"
    talker = Talker(b"", end="stop")
    ran = talked(tmp_path, program, talker)
    assert (ran.status, ran.expiry) == (None, None)
    assert talker.heard["stderr"] == b"here\n"


def test_without_an_input_nothing_is_written(tmp_path: Path) -> None:
    assert talked(tmp_path, ECHO, Talker(b"abc\n"), stdin="nothing").exit_code == 0


def test_what_a_listener_raises_ends_the_process_and_is_raised(tmp_path: Path) -> None:
    class Faulty(Talker):
        def hear(self, stream: str, chunk: bytes) -> None:
            raise ZeroDivisionError(f"{stream} {chunk!r}")

    with pytest.raises(ZeroDivisionError, match="here"):
        talked(tmp_path, "import time; print('here', flush=True); time.sleep(3600)", Faulty(b""))


# --- JSON, one object a line -------------------------------------------------------------------------------------


def read(*chunks: bytes) -> list[dict[str, Any] | str]:
    lines = JsonLines()
    return [one for chunk in chunks for one in lines.add(chunk)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_are_the_same_however_they_are_cut(size: int) -> None:
    data = '{"a":"grün"}\r\n\n  \nplain text\n{"b":1}\n{"not":"yet'.encode()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert read(*chunks) == [{"a": "grün"}, "plain text", {"b": 1}]


@pytest.mark.parametrize("line", ["[1]", "5", "null", "{", '{"a":}', '{"a":1} x', "{1:2}"])
def test_what_is_no_object_is_text(line: str) -> None:
    assert read(line.encode() + b"\n") == [line]


def test_nesting_without_end_is_text() -> None:
    assert isinstance(read(b'{"a":' * 100_000 + b"\n")[0], str)


def test_invalid_utf8_is_replaced() -> None:
    assert read(b'{"a":"\xff"}\n') == [{"a": "\ufffd"}]


def test_too_long_a_line_is_left_out_and_counted() -> None:
    lines = JsonLines()
    read = [*lines.add(b"x" * LONGEST_MESSAGE), *lines.add(b"x"), *lines.add(b"x\n"), *lines.add(b'{"a":1}\n')]
    assert (read, lines.left_out) == ([{"a": 1}], 1)


def test_half_of_a_surrogate_pair_costs_no_line() -> None:
    (found,) = JsonLines().add(b'{"text": "\\ud83d"}\n')
    assert found == {"text": "\ud83d"}
