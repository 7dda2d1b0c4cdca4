"""What an agent sees of our environment is on a list; whatever is not (keys, tokens, our own settings) it never sees.

A name that ends with `*` stands for all that begin so. Proxies are on the list although their values may hold a
password: without them nothing works where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aotloop.agents.contract import Assignment
from aotloop.agents.scratch import BINDINGS

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
    # Where tools are that PATH leads to.
    "VIRTUAL_ENV",
    "PYENV_ROOT",
    "NVM_DIR",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    # By these an attempt or a check that surrounds ours knows what it has to end.
    "AOT_ATTEMPT_MARK",
    "AOT_CHECK_ID",
)


def allowed(surroundings: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    names = (*ALLOWED, *more)
    exact = {name for name in names if not name.endswith("*")}
    beginnings = tuple(name.removesuffix("*") for name in names if name.endswith("*") and name != "*")
    return {name: value for name, value in surroundings.items() if name in exact or name.startswith(beginnings)}


def environment(assignment: Assignment, surroundings: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """All that the agent of this assignment sees; `more` are names from the configuration."""
    return {
        **allowed(surroundings, more),
        **assignment.env,
        "AOT_RUN_ID": assignment.run_id,
        "AOT_ATOM_ID": assignment.atom,
        "AOT_ATTEMPT": str(assignment.attempt),
        "AOT_ROLE": assignment.role,
        "AOT_STATE_FILE": str(assignment.state_file),
        "AOT_BINDINGS": str(assignment.scratch / BINDINGS),
        **({"AOT_MAX_COST_USD": f"{assignment.max_cost_usd:.4f}"} if assignment.max_cost_usd is not None else {}),
    }
