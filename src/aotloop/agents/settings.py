"""What a person may configure about an agent, whichever backend runs it."""

from __future__ import annotations

import msgspec


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...] = ()
    """Of the backend `command`: the program and its arguments, with placeholders."""
    model: str | None = None
    """None: the client's own choice."""
    program: str | None = None
    """The client's program, by name or path; None: where it is usually found."""
    pass_env: tuple[str, ...] = ()
    """Names of variables to pass on besides those that every agent gets; `NAME*` for all that begin so."""
    operator_settings: bool = False
    """A worker's client loads the operator's own settings, hooks and servers, where it can tell them from others."""
