"""Makes the lists of docs/errors.md: reasons to stop, messages and findings, as they stand in the sources."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Sequence
from operator import itemgetter

from docs.messages import Message, Reader

from aotloop.errors import remedy

KINDS = {
    "limit": "as much as was allowed has been used (exit code 5)",
    "stalled": "it went on, and nothing got smaller (4)",
    "exhausted": "nothing is left to try (4)",
    "blocked": "a person has to do or decide something first (6)",
    "user": "a person stopped it (7; 130 with Ctrl-C)",
    "error": "something failed that is no fault of the work (1)",
}

AREAS = {
    "Commands": ("cli", "app"),
    "Starting and running a loop": ("launch", "runner", "verify", "judging"),
    "What the loop does not allow": ("core",),
    "The state file": ("statefile",),
    "Aligning and importing": ("alignment", "imports"),
    "Configuration": ("config", "trust"),
    "Agents": ("agents",),
    "Git and worktrees": ("workspace",),
    "Shipping": ("phases", "shipping"),
    "Sessions and the plugin": ("session", "installing", "hooks"),
    "Scripts of the plugin": ("scripts",),
}


def page(text: str, reader: Reader) -> str:
    """The page with its lists as the sources are now."""
    lists = {
        "remedies": _remedies(),
        "stops": _stops(reader.stops()),
        "messages": _messages(reader.endings()),
        "findings": _findings(reader.findings()),
    }
    for what, listed in lists.items():
        begin, end = f"<!-- made from the sources: {what} -->", f"<!-- end: {what} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n{listed.strip()}\n\n{end}{after}"
    return text


def _remedies() -> str:
    told: dict[str, list[str]] = {}
    for number, name in sorted(errno.errorcode.items(), key=itemgetter(1)):
        if (what := remedy(OSError(number, ""))) is not None:
            told.setdefault(what, []).append(f"`{name}`")
    return "".join(f"- {', '.join(names)} → {_plain(what)}\n" for what, names in told.items())


def _messages(endings: Sequence[Message]) -> str:
    parts = []
    for title, areas in AREAS.items():
        parts.append(f"### {title}\n{_listed(one for one in endings if one.area in areas)}\n")
    return "".join(parts)


def _findings(findings: Sequence[Message]) -> str:
    wrong, doubtful = ([one for one in findings if one.is_warning is level] for level in (False, True))
    return f"### Errors of a file\n{_listed(wrong)}\n### Warnings\n{_listed(doubtful)}"


def _stops(reasons: Iterable[str]) -> str:
    parts = []
    for kind, meaning in KINDS.items():
        shown = [f"- {_code(reason)}\n" for reason in reasons if reason.startswith(f"{kind}: ")]
        parts.append(f"### `{kind}:`\n{meaning[0].upper()}{meaning[1:]}.\n\n{''.join(shown)}\n")
    return "".join(parts)


def _listed(messages: Iterable[Message]) -> str:
    told = sorted({(one.text, one.hint) for one in messages})
    return "".join(f"- {_code(text)}{f' → {_plain(hint)}' if hint.strip('… ') else ''}\n" for text, hint in told)


def _code(text: str) -> str:
    """Text as it is, whatever it holds."""
    fence = "``" if "`" in text else "`"
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def _plain(text: str) -> str:
    """Prose; what stands between backticks is code already."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        one if one.startswith("`") else re.sub(r"([*_\[\]\\])", r"\\\1", one).replace("<", "&lt;") for one in pieces
    )
