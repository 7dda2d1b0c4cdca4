"""Whatever an agent sends, a session only ever ends."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from aotloop.agents.acp.session import AcpSession
from aotloop.agents.client.service_errors import Trouble
from aotloop.process.transport import Transport
from tests.agents.assignments import an_assignment

WORDS = st.sampled_from(
    [
        "session/update",
        "session/request_permission",
        "fs/read_text_file",
        "fs/write_text_file",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "usage_update",
        "text",
        "USD",
        "completed",
        "execute",
        "model",
        "allow_once",
    ]
)
KEYS = st.sampled_from(
    [
        "id",
        "method",
        "params",
        "result",
        "error",
        "update",
        "sessionUpdate",
        "content",
        "text",
        "status",
        "rawInput",
        "toolCall",
        "kind",
        "options",
        "locations",
        "path",
        "cost",
        "amount",
        "currency",
        "usage",
        "configOptions",
        "category",
        "protocolVersion",
        "sessionId",
        "stopReason",
        "messageId",
        "command",
        "line",
        "limit",
        "code",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 5) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
MESSAGES = st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=8)


def heard(folder: Path, messages: list[Any]) -> AcpSession:
    with subprocess.Popen([sys.executable, "--version"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        return asyncio.run(_heard(folder, messages, process))


async def _heard(folder: Path, messages: list[Any], process: subprocess.Popen[bytes]) -> AcpSession:
    transport = Transport(process.stdin)
    session = AcpSession(an_assignment(folder), lambda _: None, model="m")
    session.begin(transport)
    for message in messages:
        for stream in ("stdout", "stderr"):
            session.hear(stream, json.dumps(message).encode() + b"\n")
    transport.close()
    return session


@given(MESSAGES)
def test_no_message_is_too_strange(messages: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        opening = [{"id": 1, "result": {"protocolVersion": 1}}, {"id": 2, "result": {"sessionId": "s"}}]
        heard(Path(folder), [*opening, *messages])
        heard(Path(folder), messages)


def test_a_message_that_the_log_overtook_does_not_end_a_trouble(tmp_path: Path) -> None:
    def wait(_: str) -> Trouble:
        return Trouble(words="busy", cause="overload")

    async def heard() -> Trouble | None:
        session = AcpSession(an_assignment(tmp_path), lambda _: None, hint_of_trouble=wait)
        session.begin(Transport(process.stdin))
        session.hear("stderr", b"busy\n")
        update = {"sessionUpdate": "agent_message_chunk", "content": {"text": "said before"}}
        session.hear("stdout", json.dumps({"method": "session/update", "params": {"update": update}}).encode() + b"\n")
        return session.trouble

    with subprocess.Popen([sys.executable, "--version"], stdout=subprocess.DEVNULL) as process:
        assert asyncio.run(heard()) == wait("")


def test_replies_that_break_off_without_end_are_noticed(tmp_path: Path) -> None:
    def chunk(number: int) -> dict[str, Any]:
        update = {"sessionUpdate": "agent_message_chunk", "messageId": str(number), "content": {"text": "hel"}}
        return {"method": "session/update", "params": {"update": update}}

    assert heard(tmp_path, [chunk(number) for number in range(20)]).trouble is None
    met = heard(tmp_path, [chunk(number) for number in range(21)]).trouble
    assert met is not None
    assert met.cause == "outage"
