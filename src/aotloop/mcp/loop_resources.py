"""Resources and prompts: the state file, the graph and the report of a loop, and how to agree on one."""

from __future__ import annotations

from pathlib import Path

from mcp.server import MCPServer

from aotloop.app.diagram import draw
from aotloop.app.plugin.installation import find_installation
from aotloop.app.report.html_report import html_report
from aotloop.app.report.markdown_report import markdown_report
from aotloop.execution.journals.file_tail import last_bytes
from aotloop.mcp.known_loops import KnownLoops, clean_text, read, told

MOST_OF_A_STATE = 4 << 20
_FRONT = "---"


def add_resources(server: MCPServer, loops: KnownLoops) -> None:
    def state() -> str:
        """The state file of the loop of this project."""
        store = loops.store("")
        content, _ = last_bytes(Path(store.path), MOST_OF_A_STATE, follows_link=True)
        return clean_text(store, content.decode("utf-8", "replace"))

    def picture() -> str:
        """The work graph as a picture."""
        store = loops.store("")
        return clean_text(store, draw(store.load(), "svg"), MOST_OF_A_STATE)

    def report() -> str:
        """Everything about the loop, as one HTML page."""
        return html_report(loops.store("")).text

    def summary() -> str:
        """What was done, as text for a pull request."""
        return markdown_report(loops.store("")).text

    for uri, kind, content in (
        ("aot://loop/state", "text/markdown", state),
        ("aot://loop/graph.svg", "image/svg+xml", picture),
        ("aot://loop/report.html", "text/html", report),
        ("aot://loop/report.md", "text/markdown", summary),
    ):
        server.resource(uri, mime_type=kind)(read(content))


def add_prompts(server: MCPServer) -> None:
    def align(wish: str = "") -> str:
        """Agree with the person on an objective that a machine can check, and on the work it takes."""
        text = (find_installation().folder / "commands" / "align-goal.md").read_text(encoding="utf-8")
        _, _, body = text.removeprefix(_FRONT).partition(f"\n{_FRONT}\n")
        asked = f"The person wants: {wish}\n\n" if wish.strip() else ""
        return f"{asked}{body.strip()}\n"

    server.prompt()(told(align))
