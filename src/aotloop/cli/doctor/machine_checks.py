"""Checks the machine: Python, git, the user's folders, extras, model servers here, and workers on other machines."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from pathlib import Path

from aotloop.agents.openai.local_servers import USUAL_PORTS, ModelsServer, local_servers
from aotloop.app.cluster.elsewhere import remote_findings
from aotloop.cli.doctor.agent_checks import root_of
from aotloop.cli.doctor.diagnosis import Finding
from aotloop.config.sources import load
from aotloop.errors import AotError, Unavailable
from aotloop.extras import install_command
from aotloop.git.repository import OLDEST
from aotloop.process import blocking_run
from aotloop.process.output import Whole
from aotloop.process.own_programs import own_program
from aotloop.process.spec import Ending, ProcessSpec
from aotloop.text.phrases import listed
from aotloop.trust.folder import data_folder

ABOUT = "machine"
ABOUT_MODELS = "models on this machine"
ABOUT_OTHERS = "other machines"
ABOUT_EXTRAS = "extras"
_DISTRIBUTION = "aotloop"
_NOT_FOR_USERS = {"dev", "fuzz"}
_OF_THE_DEMO = "local-model"
"""pip would also build a second llama.cpp, for which the packages ask."""


def machine_findings() -> Iterator[Finding]:
    yield Finding(about=ABOUT, subject="Python", result=platform.python_version())
    yield _git()
    yield _folder()


def _git() -> Finding:
    program = own_program("git")
    if program is None:
        return Finding(about=ABOUT, subject="git", result="not found", ok=False, fix="Install git 2.38 or newer.")
    output = Whole()
    spec = ProcessSpec(argv=(program, "--version"), env=dict(os.environ), ending=Ending(clears=False))
    blocking_run.run(spec, out=output)
    result = output.text().strip()
    numbers = re.search(r"(\d+)\.(\d+)", result)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        return Finding(
            about=ABOUT, subject="git", result=f"{result} is too old", ok=False, fix="Install git 2.38 or newer."
        )
    return Finding(about=ABOUT, subject="git", result=result.removeprefix("git version "))


def _folder() -> Finding:
    """The folder that keeps what the user accepted and agreed to."""
    subject = "your data folder"
    try:
        folder = data_folder("trusted")
    except Unavailable as error:
        return Finding(about=ABOUT, subject=subject, result=error.message, ok=False, fix=error.hint)
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(there, os.W_OK):
        result = f"{there} is not writable"
        fix = "Set XDG_DATA_HOME to a writable folder; otherwise aot asks for your consent each time."
        return Finding(about=ABOUT, subject=subject, result=result, ok=None, fix=fix)
    return Finding(about=ABOUT, subject=subject, result=str(Path(folder).parent))


def extra_findings() -> Iterator[Finding]:
    try:
        names = metadata(_DISTRIBUTION).get_all("Provides-Extra") or []
        needed = requires(_DISTRIBUTION) or []
    except PackageNotFoundError:  # for example a checkout that was never installed
        return
    for extra in sorted({*names} - _NOT_FOR_USERS):
        pattern = rf"([\w.-]+).*extra == ['\"]{re.escape(extra)}['\"]"
        yield _extra(extra, [found[1] for requirement in needed if (found := re.match(pattern, requirement))])


def _extra(extra: str, packages: list[str]) -> Finding:
    subject = f"{_DISTRIBUTION}[{extra}]"
    there = {package: _version(package) for package in packages}
    missing = [package for package, found in there.items() if found is None]
    if missing:
        how = "`aot demo --model` asks, and installs it" if extra == _OF_THE_DEMO else install_command(extra)
        fix = f"Optional: {how}"
        return Finding(
            about=ABOUT_EXTRAS, subject=subject, result=f"not installed: {', '.join(missing)}", ok=None, fix=fix
        )
    result = ", ".join(f"{package} {found}" for package, found in there.items())
    return Finding(about=ABOUT_EXTRAS, subject=subject, result=result)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def model_server_findings() -> Iterator[Finding]:
    found = local_servers()
    for server in found:
        yield _server(server)
    if not found:
        ports = ", ".join(f"{port} ({name})" for port, name in USUAL_PORTS.items())
        yield Finding(about=ABOUT_MODELS, subject="model servers", result=f"none on the ports {ports}", ok=None)


def _server(server: ModelsServer) -> Finding:
    models = listed(server.models) if server.models else "no model"
    example = f'base_url = "{server.base_url}"' + (f', model = "{server.models[0]}"' if server.models else "")
    return Finding(
        about=ABOUT_MODELS,
        subject=f"{server.base_url} (the port of {server.name})",
        result=models,
        ok=True if server.models else None,
        fix=f'To use it: [agents.local] with kind = "openai", {example}, in aot.toml.',
        facts={"base_url": server.base_url, "models": list(server.models)},
    )


def other_machine_findings(state_file: str | None) -> Iterator[Finding]:
    try:
        config = load(root_of(state_file))
    except AotError:  # the project's own check names it
        return
    for subject, result, ok in remote_findings(config):
        yield Finding(about=ABOUT_OTHERS, subject=subject, result=result, ok=ok)
