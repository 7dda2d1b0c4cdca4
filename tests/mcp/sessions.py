"""A session of the SDK's own client with a real `aot mcp`, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from mcp.types import CallToolResult, TextContent

from mcp import Client, StdioServerParameters

T = TypeVar("T")


def in_session(folder: Path, talk: Callable[[Client], Awaitable[T]], **environ: str) -> T:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from aotloop.cli.main import main; main()", "mcp"],
        cwd=folder,
        env={name: os.environ[name] for name in ("HOME", "PATH", "GIT_CONFIG_GLOBAL")} | environ,
    )

    async def meet() -> T:
        async with Client(server) as client:
            return await talk(client)

    return asyncio.run(meet())


async def called(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, said(result)
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, said(result)
    return said(result)


def said(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
