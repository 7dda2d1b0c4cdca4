"""An agent of the Agent Client Protocol that is a Python program: `python acp_stand_in.py PROGRAM`.

It answers nothing before the program prints something, or ends; who prints a line that is a message has sent it.
"""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any


class Agent(io.RawIOBase):
    """Standard output, before the first byte of which the session is opened."""

    def __init__(self) -> None:
        super().__init__()
        self._input = sys.stdin.buffer
        self._prompt: Any = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._open()
        return os.write(1, data)

    def end(self) -> None:
        self._open()
        self._reply(self._prompt, {"stopReason": "end_turn", "usage": {"inputTokens": 12, "outputTokens": 3}})
        self._input.read()

    def _open(self) -> None:
        if self._prompt is None:
            self._reply(self._asked(), {"protocolVersion": 1})
            self._reply(self._asked(), {"sessionId": "s"})
            self._prompt = self._asked()

    def _asked(self) -> Any:
        line = self._input.readline()
        return json.loads(line)["id"] if line else "nobody listens any more"

    def _reply(self, number: Any, result: dict[str, Any]) -> None:
        os.write(1, json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode() + b"\n")


def chunk(text: str) -> str:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}})


def main() -> None:
    agent = Agent()
    sys.stdin = io.StringIO()
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(agent), encoding="utf-8")
    program = Path(sys.argv[1])
    try:
        exec(compile(program.read_text(), str(program), "exec"), {"__name__": "__main__"})
    finally:
        sys.stdout.flush()
    agent.end()


if __name__ == "__main__":
    main()
