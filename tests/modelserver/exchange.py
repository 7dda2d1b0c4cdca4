"""What is read from a request, whatever the API: who speaks, about what, with which tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Api = Literal["messages", "responses", "chat"]


@dataclass(frozen=True, kw_only=True)
class Exchange:
    api: Api
    model: str
    is_streamed: bool
    session: str
    """As the client names it; empty if it does not."""
    prompt: str
    """The first user text, without what clients put around it (reminders, instruction files, environment)."""
    system: str
    texts: tuple[str, ...]
    """All user texts, as they were sent."""
    results: tuple[str, ...]
    """What tools answered, in order."""
    tools: Mapping[str, str]
    """Name to kind: "function", or what else the API has."""
    schema: Mapping[str, Any] | None = None
    """Of the structured result that is asked for."""
    body: Mapping[str, Any] = field(repr=False)

    @property
    def conversation(self) -> tuple[str, str]:
        """Sub-agents share the session of their parent, and nothing else."""
        return self.session, self.prompt


WRAPPERS = (
    "<system-reminder>",
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "# AGENTS.md instructions",
)


def first_text(texts: list[str]) -> str:
    own = [text for text in texts if not text.lstrip().startswith(WRAPPERS)]
    return own[0] if own else ""


def text_of(content: Any) -> list[str]:
    """The texts of a message, whose content is one string or a list of parts."""
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or () if isinstance(part.get("text"), str)]
