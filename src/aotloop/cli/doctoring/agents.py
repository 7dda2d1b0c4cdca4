"""The agents: which are configured, whether they can be started, and what each of them can do by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aotloop.agents.contract import Capabilities
from aotloop.agents.registry import BACKENDS, backend
from aotloop.cli.doctoring.findings import Finding
from aotloop.config import Config, load
from aotloop.errors import AotError
from aotloop.statefile.locate import find_state_file, project_root

ABOUT = "agents"


def agent_findings(state_file: str | None) -> Iterator[Finding]:
    try:
        config = load(_root(state_file))
    except AotError as error:
        yield Finding(about=ABOUT, what="configuration", said=error.message, ok=False, fix=error.hint)
        return
    said = str(config.source) if config.source is not None else "none; the defaults hold"
    yield Finding(about=ABOUT, what="configuration", said=said)
    yield _default(config)
    for name in sorted({*BACKENDS, *config.agents} - {"command", "acp"}):
        yield _agent(config, name)


def _root(state_file: str | None) -> Path:
    try:
        return Path(project_root(find_state_file(state_file)))
    except AotError:
        return Path.cwd()


def _default(config: Config) -> Finding:
    if config.agent is None:
        fix = 'Atoms without `run` need one: --agent NAME, AOT_AGENT, or `agent = "NAME"` in aot.toml.'
        return Finding(about=ABOUT, what="default agent", said="none", ok=None, fix=fix)
    return Finding(about=ABOUT, what="default agent", said=config.agent)


def _agent(config: Config, name: str) -> Finding:
    """One that is not there is a problem only if it is the one to be used."""
    try:
        kind, settings, _ = config.agent_settings(name)
        made = backend(kind, settings)
        said = f"{kind}, {_version(made)}" if kind != name else _version(made)
    except AotError as error:
        is_wanted = name == config.agent or name in config.agents
        return Finding(about=ABOUT, what=name, said=error.message, ok=False if is_wanted else None, fix=error.hint)
    return Finding(about=ABOUT, what=name, said=f"{said} ({_in_words(made.capabilities)})")


def _version(made: object) -> str:
    """Backends of real clients can tell; asking starts the client, without a network."""
    probe = getattr(made, "version", None)
    return str(probe()) if callable(probe) else "ready"


def _in_words(capabilities: Capabilities) -> str:
    by_support: dict[str, list[str]] = {}
    for name in Capabilities.__struct_fields__:
        by_support.setdefault(getattr(capabilities, name), []).append(name.replace("_", " "))
    return "; ".join(f"{support}: {', '.join(names)}" for support, names in by_support.items())
