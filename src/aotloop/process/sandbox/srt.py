"""The sandbox runtime of npm (`srt`) as an engine: like bubblewrap, and only named hosts can be reached.

It runs the command behind bubblewrap, and lets its connections out through a proxy of its own. Only this module knows
its options and its settings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from aotloop.process.sandbox.fence import Network, is_at_or_in
from aotloop.process.sandbox.resolved_fence import ResolvedFence

PROGRAM = "srt"
NEEDS = ("bwrap", "socat", "rg")
"""Other programs that it starts."""
INSTALL = "npm install -g @anthropic-ai/sandbox-runtime, and the packages bubblewrap, socat and ripgrep"
_IN = ("/bin/sh", "-c", 'cd "$0" && exec "$@"')
"""Before a folder and a command."""
_STEERING = frozenset(
    {
        *("PATH", "TMPDIR", "CLAUDE_TMPDIR", "CLAUDE_CODE_TMPDIR", "LOCPATH", "GCONV_PATH"),
        *("ENV", "IFS", "PS4", "SHELL", "SHELLOPTS", "GLOBIGNORE", "RIPGREP_CONFIG_PATH", "OPENSSL_CONF"),
        *("NODE_OPTIONS", "NODE_PATH", "NODE_V8_COVERAGE", "NODE_COMPILE_CACHE", "NODE_EXTRA_CA_CERTS"),
    }
)
_STEERING_PREFIXES = ("LD_", "BASH")
"""Variables that are no secrets: they are passed on the command line, which others on the machine can read."""
_OPEN_BY_ITSELF = ("/tmp/claude", "~/.npm/_logs", "~/.claude/debug")  # noqa: S108 - nothing is made there
"""What srt opens without being asked; attempts would share it."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PRIVATE = ("169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
"""What srt exempts from its proxy."""
_FORWARD = """cd "$0" && for port in PORTS; do
socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" \\
"PROXY:localhost:127.0.0.1:$port,proxyport=3128,proxyauth=$CLOUDSDK_PROXY_USERNAME:$CLOUDSDK_PROXY_PASSWORD" \\
</dev/null >/dev/null 2>&1 &
until grep -q ":$(printf %04X "$port") 00000000:0000 0A" /proc/net/tcp || ! kill -0 $!; do sleep 0.01; done
done && exec "$@\""""
"""Behind the fence, this machine is another one: a port of it that is named is passed on through the proxy."""

HOSTS: Mapping[str, tuple[str, ...]] = {
    "claude": ("api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai"),
    "codex": ("api.openai.com", "auth.openai.com", "chatgpt.com"),
    "opencode": ("opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com"),
    "gemini": ("generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"),
    "pypi": ("pypi.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org",),
    "github": ("github.com", "api.github.com", "codeload.github.com", "*.githubusercontent.com"),
}
"""Presets: a name in a list of hosts stands for these."""


def hosts(network: Network) -> list[str]:
    if isinstance(network, str):
        return []
    return list(dict.fromkeys(host for name in network for host in HOSTS.get(name, (name,))))


def arguments(
    program: str, settings: str, fence: ResolvedFence, env: Mapping[str, str], network: Network
) -> tuple[str, ...]:
    """Everything before the command. `settings`: the path of its settings. `env`: of the command, not of srt.

    In the folder in which srt is started, it closes files that may run something (`.claude`, `.mcp.json`), and leaves
    empty files behind if it is killed. That is not for a worktree, so it is started in its own folder.
    """
    given = {name: value for name, value in env.items() if _steers(name)} | _without_proxy(network)
    own_folder = os.path.dirname(os.path.realpath(program))  # noqa: PTH120 - a text, as everywhere here
    command = ("/usr/bin/env", *(f"{name}={value}" for name, value in given.items()))
    ports = _ports(network)
    inside = ("/bin/sh", "-c", _FORWARD.replace("PORTS", " ".join(map(str, ports)))) if ports else _IN
    return (*_IN, own_folder, program, "--settings", settings, "--", *inside, fence.here, *command)


def environment(env: Mapping[str, str], path: str) -> dict[str, str]:
    """Of srt itself, which runs outside of the fence; the command inherits it. `path`: where it finds its programs."""
    return {**{name: value for name, value in env.items() if not _steers(name)}, "PATH": path}


def settings(fence: ResolvedFence, network: Network, home: str) -> dict[str, Any]:
    by_itself = (path.replace("~", home, 1) for path in _OPEN_BY_ITSELF)
    closed = [path for path in fence.closed if _is_in_any(path, fence.open)]  # all the rest is closed anyway
    closed += fence.settings
    closed += [path for path in map(os.path.realpath, by_itself) if not _is_in_any(path, fence.open)]
    return {
        "network": {"allowedDomains": hosts(network), "deniedDomains": [], "strictAllowlist": True},
        "filesystem": {
            "denyRead": list(_existing(fence.hidden)),
            "allowWrite": list(_existing(fence.open)),
            "denyWrite": list(_existing(closed)),
        },
    }


def _steers(name: str) -> bool:
    """Whether srt, or a program that it starts outside of the fence, would obey this variable."""
    return name in _STEERING or name.startswith(_STEERING_PREFIXES) or not name.isidentifier()


def _ports(network: Network) -> list[int]:
    """The named ports of this machine."""
    found = []
    for host in hosts(network):
        name, _, port = host.rpartition(":")
        if name.strip("[]") in _LOOPBACK and port.isdecimal():
            found.append(int(port))
    return found


def _without_proxy(network: Network) -> dict[str, str]:
    """An address of a private network that is named is asked of the proxy, like all others."""
    from ipaddress import ip_address, ip_network  # noqa: PLC0415 - most processes do not need it

    named = []
    for host in hosts(network):
        with suppress(ValueError):
            named.append(ip_address(host.partition(":")[0]))
    private = [block for block in _PRIVATE if not any(address in ip_network(block) for address in named)]
    if len(private) == len(_PRIVATE):
        return {}
    return dict.fromkeys(("NO_PROXY", "no_proxy"), ",".join((*_LOOPBACK, *private)))


def _is_in_any(path: str, folders: Iterable[str]) -> bool:
    return any(is_at_or_in(path, folder) for folder in folders)


def _existing(paths: Iterable[str]) -> Iterator[str]:
    yield from (path for path in dict.fromkeys(paths) if os.path.exists(path))  # noqa: PTH110
