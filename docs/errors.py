"""Makes the lists of docs/errors.md from the sources, and the list of all messages that come with a remedy.

That list is for engineers who review words: docs/development/messages.txt. Users see a message with its remedy.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Iterable, Sequence
from operator import itemgetter

from docs.messages import Message, Reader

from aotloop import exit_codes
from aotloop.errors import remedy

KINDS = {
    "limit": "as much as was allowed has been used",
    "stalled": "it went on, and nothing got smaller",
    "exhausted": "nothing is left to try",
    "blocked": "a person has to do or decide something first",
    "user": "a person stopped it",
    "error": "something failed that is no fault of the work",
}

AREAS = {
    "Commands": ("cli", "app", "app.outlets", "app.redirect", "mcp", "web"),
    "Starting and running a loop": ("app.preflight", "app.run", "runner", "execution", "checks"),
    "What the loop does not allow": ("core",),
    "The state file": ("statefile",),
    "Aligning and importing": ("app.align", "importers"),
    "Configuration": ("config", "trust"),
    "Agents": ("agents", "fence", "process"),
    "Git and worktrees": ("git", "flock"),
    "Other machines": ("app.cluster", "remote"),
    "Shipping": ("phases", "app.ship"),
    "The plugin": ("app.plugin",),
}
"""The packages whose messages stand under each title."""
UNLISTED = ("app.session", "hooks", "scripts")
"""What agents read in a session, together with its remedy."""


def parts(reader: Reader) -> dict[str, str]:
    """The lists of the page, by the names of their marks."""
    return {
        "codes": _codes(),
        "remedies": _remedies(),
        "reasons": _stops(reader.stops()),
    }


MESSAGES = """\
Every message that comes with a remedy, made from the sources by `make docs`.

… is what is known only when it happens, (a | b) one of two, [a] what may be missing; / separates remedies for cases.
"""


def messages(endings: Sequence[Message]) -> str:
    advised = [one for one in endings if one.hint.strip("… ")]
    sections = ((title, [one for one in advised if one.area in areas]) for title, areas in AREAS.items())
    return MESSAGES + "".join(f"\n{title}\n{_listed(found)}" for title, found in sections if found)


def _codes() -> str:
    rows = [f"| {code} | {meaning} | {exit_codes.REMEDIES.get(code, '')} |\n" for code, meaning in _meanings()]
    return "".join(["| code | meaning | what to do |\n", "| --- | --- | --- |\n", *rows])


def _meanings() -> list[tuple[int, str]]:
    return sorted(exit_codes.MEANINGS.items())


def _remedies() -> str:
    told: dict[str, list[str]] = {}
    for number, name in sorted(errno.errorcode.items(), key=itemgetter(1)):
        if (what := remedy(OSError(number, ""))) is not None:
            told.setdefault(what, []).append(f"`{name}`")
    return "".join(f"- {', '.join(names)} → {_plain(what)}\n" for what, names in told.items())


def _stops(reasons: Iterable[str]) -> str:
    parts = []
    for kind, meaning in KINDS.items():
        told = [
            reason for reason in reasons if reason.startswith(f"{kind}: ") and any(map(str.isalpha, _after(reason)))
        ]
        shown = [f"- {_code(reason)}\n" for reason in told]
        parts.append(
            f"### `{kind}:`\n{meaning[0].upper()}{meaning[1:]} (exit code {_code_of(kind)}).\n\n{''.join(shown)}\n"
        )
    return "".join(parts)


def _after(reason: str) -> str:
    """What follows the kind; dots alone would tell a reader nothing."""
    return reason.partition(": ")[2]


def _code_of(kind: str) -> str:
    code = exit_codes.code_of(kind)
    return f"{code}; {exit_codes.INTERRUPTED} with Ctrl-C" if code == exit_codes.STOPPED else str(code)


def _listed(messages: Iterable[Message]) -> str:
    """Each message once, with all that may be advised."""
    told: dict[str, list[str]] = {}
    for text, hint in sorted({(one.text, one.hint) for one in messages}):
        told.setdefault(text, []).append(hint)
    return "".join(f"- {text} → {' / '.join(hints)}\n" for text, hints in told.items())


def _code(text: str) -> str:
    """Text as it is, with any content."""
    fence = "``" if "`" in text else "`"
    space = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def _plain(text: str) -> str:
    """Prose; what stands between backticks is code already."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        one if one.startswith("`") else re.sub(r"([*_\[\]\\])", r"\\\1", one).replace("<", "&lt;") for one in pieces
    )
