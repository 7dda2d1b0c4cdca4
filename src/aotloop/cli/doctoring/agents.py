"""The agents: which are configured, whether they can be started, and what each of them can do by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop import app
from aotloop.agents.acp_presets import PRESETS
from aotloop.agents.contract import Backend, Capabilities
from aotloop.agents.presence import Presence, look_for
from aotloop.agents.registry import BACKENDS
from aotloop.agents.versions import all_with_versions
from aotloop.cli.doctoring.findings import Finding
from aotloop.cli.doctoring.node import node_findings
from aotloop.config import Config, load
from aotloop.config.model import WITH_ARGV
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.launch.admission import hire
from aotloop.launch.staffing import likely_agents
from aotloop.statefile.locate import find_state_file, project_root
from aotloop.trust import is_trusted

ABOUT = "agents"


def agent_findings(state_file: str | None) -> Iterator[Finding]:
    try:
        config = load(_root(state_file))
    except AotError as error:
        yield Finding(about=ABOUT, what="configuration", said=error.message, ok=False, fix=error.hint)
        return
    yield _configuration(config)
    yield _default(config)
    yield from _all(config, _used(state_file, config))
    yield _presets()


def _configuration(config: Config) -> Finding:
    said = str(config.source) if config.source is not None else "none; the defaults hold"
    if _is_accepted(config):
        return Finding(about=ABOUT, what="configuration", said=said)
    fix = "`aot run` shows what it asks for, and asks you; until then nothing that it names is started."
    return Finding(about=ABOUT, what="configuration", said=f"{said}; you have not accepted it", ok=None, fix=fix)


def _is_accepted(config: Config) -> bool:
    return config.source is None or is_trusted(str(config.source), config.powers)


def _root(state_file: str | None) -> Path:
    try:
        return Path(project_root(find_state_file(state_file)))
    except AotError:
        return Path.cwd()


def _used(state_file: str | None, config: Config) -> set[str]:
    """By the loop, if there is one that can be read, and by the configuration."""
    try:
        loop: Loop | None = app.open_store(state_file).load()
    except AotError:
        loop = None
    if loop is not None:
        return set(likely_agents(loop, config))
    return set(config.chain(config.agent)) if config.agent is not None else set()


def _default(config: Config) -> Finding:
    if config.agent is None:
        fix = 'Atoms without `run` need one: --agent NAME, AOT_AGENT, or `agent = "NAME"` in aot.toml.'
        return Finding(about=ABOUT, what="default agent", said="none", ok=None, fix=fix)
    return Finding(about=ABOUT, what="default agent", said=config.agent)


def _all(config: Config, used: set[str]) -> Iterator[Finding]:
    backends: dict[str, Backend] = {}
    for name in sorted({*BACKENDS, *config.agents, *used} - {*WITH_ARGV}):
        try:
            backends[name], _ = hire(config, name)
        except AotError as error:
            is_wanted = name in used or name in config.agents
            ok = False if is_wanted else None
            yield Finding(about=ABOUT, what=name, said=error.message, ok=ok, fix=error.hint)
    looked = {name: one.look() for name, one in backends.items()}
    if not _is_accepted(config):  # a program that a repository names is not even asked for its version
        looked |= {name: replace(looked[name], asking=None) for name in config.agents if name in looked}
    presences = all_with_versions(looked)
    for name, backend in backends.items():
        yield _agent(name, backend, presences[name], is_used=name in used)
    yield from node_findings(ABOUT, presences, used)


def _agent(name: str, backend: Backend, presence: Presence, *, is_used: bool) -> Finding:
    """One that is not there is a problem only if it is to be used."""
    kind = [f"of the kind {backend.name}"] if backend.name != name else []
    login = presence.login
    said = [*kind, *_in_words(presence)]
    ok: bool | None = True
    fix = None
    if presence.is_missing:
        ok, fix = (False if is_used else None), presence.remedy
    elif presence.problem is not None:
        ok, fix = None, presence.remedy
    elif login is not None and login.state == "no":
        ok, fix = None, presence.log_in
    elif presence.doubt is not None:
        ok, fix = None, "It may work nevertheless; what differs is not known here."
    able = backend.capabilities
    return Finding(
        about=ABOUT,
        what=name,
        said=f"{'; '.join(said)} ({_abilities(able)})",
        ok=ok,
        fix=fix,
        facts=_facts(backend.name, presence, able, is_used=is_used),
    )


def _in_words(presence: Presence) -> Iterator[str]:
    if presence.problem is not None:
        yield presence.problem
    elif presence.doubt is not None:
        yield presence.doubt
    elif presence.version is not None:
        yield presence.version
    if presence.program is not None:
        yield presence.program
    if presence.origin:
        yield presence.origin
    if presence.login is not None:
        states = {"yes": "login", "no": "no login", "unknown": "login unknown"}
        yield f"{states[presence.login.state]}: {presence.login.because}"


def _abilities(able: Capabilities) -> str:
    by_support: dict[str, list[str]] = {"native": [], "emulated": [], "missing": []}
    for name in Capabilities.__struct_fields__:
        by_support[getattr(able, name)].append(name.replace("_", " "))
    return "; ".join(f"{support}: {', '.join(names)}" for support, names in by_support.items() if names)


def _facts(kind: str, presence: Presence, able: Capabilities, *, is_used: bool) -> Mapping[str, object]:
    return {
        "kind": kind,
        "used": is_used,
        "program": presence.program,
        "version": presence.version,
        "login": presence.login.state if presence.login is not None else None,
        "capabilities": msgspec.to_builtins(able),
    }


def _presets() -> Finding:
    others = {name: one for name, one in PRESETS.items() if name not in BACKENDS}
    there = {name: look_for(one.argv[0], install=one.install).program for name, one in others.items()}
    found = [name for name, program in there.items() if program is not None]
    absent = [name for name, program in there.items() if program is None]
    said = "; ".join(
        f"{word}: {', '.join(names)}" for word, names in (("found", found), ("not found", absent)) if names
    )
    fix = 'To use one: [agents.NAME] with kind = "acp" and program = one of these names, in aot.toml.'
    return Finding(about=ABOUT, what="known to speak ACP", said=said, ok=True if found else None, fix=fix)
