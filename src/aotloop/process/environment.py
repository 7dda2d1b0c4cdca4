"""The environment of a process: one function decides which variables pass, and its parameters say how strictly.

Proxies are allowed although their values may contain a password, because nothing works without them where they are
needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from aotloop.text.secrets import is_secret

ATTEMPT_MARK = "AOT_ATTEMPT_MARK"
CHECK_MARK = "AOT_CHECK_ID"
REAPER_MARK = "AOT_REAPER_OF"
"""The variable of a reaper that names the run."""
MARKS = (ATTEMPT_MARK, CHECK_MARK)
"""Variables that mark all descendants of an attempt or a check, also inside another attempt or check."""

ALLOWED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TMPDIR",
    "TMP",
    "TEMP",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    # Where the tools on PATH keep their files.
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "NVM_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    *MARKS,
)
"""All variables that an agent sees, unless its configuration names more. A name that ends with `*` is a prefix."""

FOR_COMMANDS = (
    "AOT_*",
    # Marks of a session: what is below one speaks for no person.
    *("CLAUDECODE", "CODEX_THREAD_ID", "CODEX_SANDBOX", "OPENCODE"),
    *("CI", "COLUMNS", "LINES", "FORCE_COLOR", "EDITOR", "PAGER", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"),
    *("PYTHON*", "PYTEST_*", "COVERAGE_*", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "UV_CACHE_DIR", "PIP_CACHE_DIR"),
    *("NODE_ENV", "NODE_OPTIONS", "NODE_PATH", "npm_config_cache", "DENO_DIR", "BUN_INSTALL"),
    *("RUST*", "CARGO_TARGET_DIR", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN", "CGO_*"),
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH"),
    *("LD_LIBRARY_PATH", "LIBRARY_PATH", "DYLD_*", "SOURCE_DATE_EPOCH", "NIX_PATH", "NIX_SSL_CERT_FILE"),
    *("DOTNET_ROOT", "ANDROID_HOME", "ANDROID_SDK_ROOT", "GEM_HOME", "GEM_PATH", "BUNDLE_PATH", "MAVEN_OPTS"),
    *("GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSL_*"),
    *("GIT_EXEC_PATH", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_CEILING_DIRECTORIES"),
)
"""What checks, tests and set-up see in addition: builds need it. Agents wrote a part of the code that they run."""

LEAVING_NOTHING = {"PYTHONDONTWRITEBYTECODE": "1"}
"""For checks and attempts: compiled modules would look like a person's uncommitted work, or land with an attempt."""

_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""If a git hook started us, these name the repository of the hook, not the one we work on."""

_PERSON = re.compile(
    r"GIT_(CONFIG_\w+|EXEC_PATH|SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|HTTP_PROXY_AUTHMETHOD|ALLOW_PROTOCOL|ASKPASS"
    r"|(AUTHOR|COMMITTER)_(NAME|EMAIL))"
)
"""The person's settings, connection and identity."""

GitVariables = Literal["any", "no_repository", "person"]
"""Which GIT_ variables pass: any, all that name no repository, or only those about the person."""


def scrub(
    surroundings: Mapping[str, str], *, allow: Iterable[str] | None = None, git: GitVariables = "any"
) -> dict[str, str]:
    """`allow`: names in addition to ALLOWED, and no other passes; None: every name passes."""
    passing = surroundings if allow is None else named(surroundings, (*ALLOWED, *allow))
    return {name: value for name, value in passing.items() if _passes(name, git)}


def for_commands(surroundings: Mapping[str, str], *, git: GitVariables = "no_repository") -> dict[str, str]:
    """For checks, tests and set-up. A name that looks like a secret passes only if the person names it."""
    harmless = {name: value for name, value in surroundings.items() if not is_secret(name)}
    return scrub(harmless, allow=FOR_COMMANDS, git=git)


def named(surroundings: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The variables with these names. A name that ends with `*` is a prefix; `*` alone names none."""
    names = tuple(names)
    exact = {name for name in names if not name.endswith("*")}
    beginnings = tuple(name.removesuffix("*") for name in names if name.endswith("*") and name != "*")
    return {name: value for name, value in surroundings.items() if name in exact or name.startswith(beginnings)}


def _passes(name: str, git: GitVariables) -> bool:
    match git:
        case "any":
            return True
        case "no_repository":
            return name not in _REPOSITORY
        case "person":
            return not name.startswith("GIT_") or _PERSON.fullmatch(name) is not None
