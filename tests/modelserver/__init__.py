"""A scripted model server, to drive real coding agents with: docs/development/model-server.md tells how."""

from __future__ import annotations

from tests.modelserver.connection import Request
from tests.modelserver.exchange import Exchange
from tests.modelserver.script import (
    Answer,
    Call,
    Delivery,
    Fail,
    Refuse,
    Say,
    Script,
    ToolCall,
    Turn,
    Usage,
    cut,
    garbled,
    silent,
    slow,
    stalled,
    tool,
)
from tests.modelserver.server import ModelServer, Record

__all__ = [
    "Answer",
    "Call",
    "Delivery",
    "Exchange",
    "Fail",
    "ModelServer",
    "Record",
    "Refuse",
    "Request",
    "Say",
    "Script",
    "ToolCall",
    "Turn",
    "Usage",
    "cut",
    "garbled",
    "silent",
    "slow",
    "stalled",
    "tool",
]
