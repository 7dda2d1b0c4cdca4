"""docs/security.md promises nothing without a test: each that it names is there, and each row names one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTE = (ROOT / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", NOTE)))


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda one: one)
def test_each_test_that_is_named_is_there(file: str, test: str) -> None:
    assert re.search(rf"^ *(async )?def {test}\(", (ROOT / file).read_text(), re.MULTILINE)


def test_each_sentence_has_a_test() -> None:
    tables = re.findall(r"^\| what holds \| shown by \|\n\| --- \| --- \|\n((?:\|.*\n)+)", NOTE, re.MULTILINE)
    rows = [row for table in tables for row in table.splitlines()]
    assert len(tables) == 4
    assert len(rows) > 30
    assert [row for row in rows if not re.search(r"\| `tests/[^|]+` \|$", row)] == []


def test_whom_it_is_about() -> None:
    for heading in ("What aotloop trusts", "A hostile repository", "A hostile agent", "A hostile web page", "Secrets"):
        assert f"\n## {heading}\n" in NOTE


# --- the network -------------------------------------------------------------------------------------------------

SPEAKING = {
    *("socket", "socketserver", "ssl", "http.client", "http.server", "urllib.request", "ftplib", "imaplib", "poplib"),
    *("smtplib", "telnetlib", "nntplib", "xmlrpc", "wsgiref"),
    *("aiohttp", "anthropic", "anyio", "apprise", "claude_agent_sdk", "grpc", "httpcore", "httpx", "mcp", "openai"),
    *("opentelemetry", "requests", "starlette", "temporalio", "trio", "urllib3", "uvicorn", "websockets", "xllamacpp"),
}
"""Libraries with which a program can open a connection or listen."""

MAY_SPEAK: dict[str, set[str]] = {
    "agents/openai/endpoint_errors.py": {"openai"},  # as the next
    "agents/openai/service.py": {"openai"},  # in the agent's own process, inside the fence of its attempt
    "agents/openai/local_servers.py": {"http.client", "socket"},  # `aot doctor`, on loopback
    "app/cluster/dev_cluster.py": {"socket"},  # the server to try, on loopback
    "app/outlets/notifications.py": {"apprise"},
    "app/outlets/otlp_export.py": {"opentelemetry"},
    "app/outlets/telemetry.py": {"opentelemetry"},
    "cli/demo/local_model.py": {"http.client", "socket"},  # on loopback
    "cli/demo/model_server.py": {"xllamacpp"},  # on loopback
    "mcp/known_loops.py": {"mcp"},  # over standard input and output, as the others of this folder
    "mcp/loop_resources.py": {"mcp"},
    "mcp/session_tools.py": {"mcp"},
    "mcp/stdio_server.py": {"mcp"},
    "mcp/view_tools.py": {"mcp"},
    "remote/activities.py": {"temporalio"},
    "remote/activity_poll.py": {"temporalio"},
    "remote/adoption.py": {"temporalio"},
    "remote/worker/attempt_activity.py": {"temporalio"},
    "remote/connection.py": {"temporalio"},
    "remote/worker/delivery.py": {"temporalio"},
    "remote/worker/lifeline.py": {"temporalio"},
    "remote/link.py": {"temporalio"},
    "remote/payload_codec.py": {"temporalio"},
    "remote/remote_checker.py": {"temporalio"},
    "remote/remote_maker.py": {"temporalio"},
    "remote/server_report.py": {"temporalio"},
    "remote/worker/check_activity.py": {"temporalio"},
    "remote/worker/workbench.py": {"temporalio"},
    "remote/worker/worker_process.py": {"socket", "temporalio"},
    "web/actions.py": {"starlette"},
    "web/address.py": {"socket"},
    "web/connections.py": {"uvicorn"},
    "web/endpoint.py": {"starlette"},
    "web/guard.py": {"starlette"},
    "web/routes.py": {"starlette"},
    "web/server.py": {"socket", "uvicorn"},
    "web/stream.py": {"starlette"},
    "web/views.py": {"starlette"},
}
"""By module of src/aotloop, wherever in it the import stands."""

ON_LOOPBACK = (
    "agents/openai/local_servers.py",
    "app/cluster/dev_cluster.py",
    "cli/demo/local_model.py",
    "cli/demo/model_server.py",
)

CONNECTING = re.compile(
    r"\b(open_connection|start_server|create_connection|create_server|open_unix_connection|start_unix_server"
    r"|create_unix_connection|create_unix_server|create_datagram_endpoint|sock_connect)\("
)
"""What needs no import but that of asyncio."""


def imports_of(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def libraries_of(source: str) -> set[str]:
    return {one for name in imports_of(source) for one in SPEAKING if name == one or name.startswith(f"{one}.")}


def test_only_these_modules_can_speak_to_the_network() -> None:
    """A module that is new here needs a sentence in docs/security.md, too."""
    ours = ROOT / "src" / "aotloop"
    sources = {str(path.relative_to(ours)): path.read_text() for path in ours.rglob("*.py")}
    assert len(sources) > 100
    assert {name: found for name, text in sources.items() if (found := libraries_of(text))} == MAY_SPEAK
    assert {name for name, text in sources.items() if CONNECTING.search(text)} == {
        "app/cluster/dev_cluster.py",
        "cli/demo/local_model.py",
    }
    for path in (ROOT / "plugin").rglob("*.py"):
        assert libraries_of(path.read_text()) == set(), path
        assert not CONNECTING.search(path.read_text()), path


@pytest.mark.parametrize(
    "source",
    [
        "import socket",
        "def f():\n    from http import client",
        "import urllib.request as r",
        "from urllib import request",
        "if True:\n    import mcp.server, os",
        "from opentelemetry.trace import Span",
    ],
)
def test_every_way_to_import_a_library_is_seen(source: str) -> None:
    assert len(libraries_of(source)) == 1


def test_what_is_for_this_machine_names_no_other_address() -> None:
    for name in ON_LOOPBACK:
        text = (ROOT / "src" / "aotloop" / name).read_text()
        assert '"127.0.0.1"' in text, name
        assert set(re.findall(r"\b\d+\.\d+\.\d+\.\d+\b|//[\w.-]+", text)) <= {"127.0.0.1", "//127.0.0.1"}, name


def test_mcp_is_spoken_over_standard_input_and_output_only() -> None:
    texts = [path.read_text() for path in (ROOT / "src" / "aotloop" / "mcp").rglob("*.py")]
    assert [call for text in texts for call in re.findall(r"\.run\w*\(.*", text)] == ['.run("stdio")']
    assert not any(re.search(r"\b(sse_app|streamable_http_app|http_app)\b", text) for text in texts)
