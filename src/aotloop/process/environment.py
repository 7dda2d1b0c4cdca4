"""The environment of a process: one function decides which variables pass, and its parameters say how strictly.

Proxies are allowed although their values may contain a password, because nothing works without them where they are
needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

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
    names = (*ALLOWED, *(allow or ()))
    exact = {name for name in names if not name.endswith("*")}
    beginnings = tuple(name.removesuffix("*") for name in names if name.endswith("*") and name != "*")
    return {
        name: value
        for name, value in surroundings.items()
        if (allow is None or name in exact or name.startswith(beginnings)) and _passes(name, git)
    }


def _passes(name: str, git: GitVariables) -> bool:
    match git:
        case "any":
            return True
        case "no_repository":
            return name not in _REPOSITORY
        case "person":
            return not name.startswith("GIT_") or _PERSON.fullmatch(name) is not None
